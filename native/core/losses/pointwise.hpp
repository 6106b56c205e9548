// What a loss tells about a vector of predictions, without the data: O(rows) each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses/losses.hpp"

namespace widemargin {

// One weighted loss per row, at predictions z_i + b.
template <class Loss>
struct Pointwise {
    const Loss& loss;
    int64_t n;
    const double *z, *y, *C;

    double value(double b) const {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += C[i] * loss.value(z[i] + b, y[i]);
        return sum;
    }
    double slope(double b) const {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += C[i] * loss.derivative(z[i] + b, y[i]);
        return sum;
    }
    double curvature(double b) const {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += C[i] * loss.curvature(z[i] + b, y[i]);
        return sum;
    }
};

// sum_i C_i conjugate(u_i / C_i): infinite where u leaves the dual domain. A row of weight zero allows u_i = 0 only.
template <class Loss>
double conjugate_sum(const Loss& loss, int64_t n, const double* u, const double* y, const double* C) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (C[i] > 0)
            sum += C[i] * loss.conjugate(u[i] / C[i], y[i]);
        else if (u[i] != 0)
            return infinity;
    }
    return sum;
}

// Every loss's slope in b changes sign between the extreme "targets" of its rows: where its own minimum sits.
template <class Loss>
std::pair<double, double> bracket_intercept(const Pointwise<Loss>& at, double start) {
    double step = 1, lo = start, hi = start;
    while (at.slope(lo) > 0 && step < 1e300) lo -= step, step *= 2;
    step = 1;
    while (at.slope(hi) < 0 && step < 1e300) hi += step, step *= 2;
    return {lo, hi};
}

// argmin over b of sum_i C_i loss(z_i + b). Newton steps inside a shrinking bracket; a bisection whenever Newton leaves
// it or gains less than half. For piecewise linear losses the bracket closes on the kink. `b` is the start.
// Where the minimum lies at infinity (rows of one class only), the answer is a point where the slope rounds to zero, or
// the start if there is none within 1e150.
template <class Loss>
double best_intercept(const Pointwise<Loss>& at, double b) {
    auto [lo, hi] = bracket_intercept(at, b);
    if (!(std::isfinite(lo) && std::isfinite(hi)) || std::abs(lo) > 1e150 || std::abs(hi) > 1e150) return b;
    // Where the losses end in a flat part, such as zero beyond the margins, the search could stop just short of it.
    for (const double flat : {lo, hi})
        if (at.slope(flat) == 0) return flat;
    double width = infinity;
    for (int iteration = 0; iteration < 200 && lo < hi; ++iteration) {
        const double slope = at.slope(b);
        if (slope == 0) return b;
        (slope > 0 ? hi : lo) = b;
        const double curvature = Loss::smooth ? at.curvature(b) : 0.0;
        double next = curvature > 0 ? b - slope / curvature : lo - 1;
        const double move = std::abs(next - b);
        if (!(next > lo && next < hi) || move > 0.5 * width) next = lo + 0.5 * (hi - lo);
        width = std::abs(next - b);
        if (next == b || width <= 4e-16 * std::abs(next)) return next;
        b = next;
    }
    return b;
}

}  // namespace widemargin
