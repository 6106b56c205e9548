// What a loss tells about a vector of predictions, without the data: O(rows) each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses/losses.hpp"

namespace widemargin {

// sum_i f(i), in four sums side by side: an addition need not wait for the one before it.
template <class F>
double sum_of(int64_t n, F&& f) {
    double sums[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int64_t k = 0; k < 4; ++k) sums[k] += f(i + k);
    for (; i < n; ++i) sums[0] += f(i);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// One weighted loss per row, at predictions z_i + b.
template <class Loss>
struct Pointwise {
    const Loss& loss;
    int64_t n;
    const double *z, *y, *C;

    double value(double b) const {
        return sum_of(n, [&](int64_t i) { return C[i] * loss.value(z[i] + b, y[i]); });
    }
    double slope(double b) const {
        return sum_of(n, [&](int64_t i) { return C[i] * loss.derivative(z[i] + b, y[i]); });
    }
    // What the slope is made of, without signs: its rounding is a share of this.
    double pull(double b) const {
        return sum_of(n, [&](int64_t i) { return C[i] * std::abs(loss.derivative(z[i] + b, y[i])); });
    }
    double curvature(double b) const {
        return sum_of(n, [&](int64_t i) { return C[i] * loss.curvature(z[i] + b, y[i]); });
    }
};

// sum_i C_i conjugate(u_i / C_i): infinite where u leaves the dual domain. A row of weight zero allows u_i = 0 only.
template <class Loss>
double conjugate_sum(const Loss& loss, int64_t n, const double* u, const double* y, const double* C) {
    return sum_of(n, [&](int64_t i) {
        if (C[i] > 0) return C[i] * loss.conjugate(u[i] / C[i], y[i]);
        return u[i] != 0 ? infinity : 0.0;
    });
}

// Where a slope of that sign at b comes to an end: the first of b -+ 1, 3, 7, ... with a slope of zero or the other
// sign. Every loss's slope in b changes sign between the extreme "targets" of its rows: where its own minimum sits.
template <class Loss>
std::pair<double, double> beyond(const Pointwise<Loss>& at, double b, double slope) {
    const double sign = slope > 0 ? -1 : 1;
    for (double step = 1; step < 1e300; step *= 2) {
        b += sign * step;
        const double there = at.slope(b);
        if (!(sign * there < 0)) return {b, there};
    }
    return {sign * infinity, slope};
}

// A smooth slope below this share of its terms, signs left out, is rounding.
inline constexpr double slope_rounding = 2e-16;

// argmin over b of sum_i C_i loss(z_i + b). Newton steps inside a shrinking bracket; a bisection whenever Newton leaves
// it or gains less than half. For piecewise linear losses the bracket closes on the kink. `b` is the start.
// Where the minimum lies at infinity (rows of one class only), the answer is a point where the slope rounds to zero, or
// the start if there is none within 1e150.
template <class Loss>
double best_intercept(const Pointwise<Loss>& at, double b) {
    double slope = at.slope(b);
    const double rounding = Loss::smooth ? slope_rounding * at.pull(b) : 0.0;
    if (!(std::abs(slope) > rounding)) return b;
    const auto [other, slope_there] = beyond(at, b, slope);
    if (!(std::abs(other) <= 1e150)) return b;
    // Where the losses end in a flat part, such as zero beyond the margins, the search could stop just short of it.
    if (slope_there == 0) return other;
    double lo = std::min(b, other), hi = std::max(b, other), width = infinity;
    for (int iteration = 0; iteration < 200 && lo < hi && std::abs(slope) > rounding; ++iteration) {
        (slope > 0 ? hi : lo) = b;
        const double curvature = Loss::smooth ? at.curvature(b) : 0.0;
        double next = curvature > 0 ? b - slope / curvature : lo - 1;
        const double move = std::abs(next - b);
        if (!(next > lo && next < hi) || move > 0.5 * width) next = lo + 0.5 * (hi - lo);
        width = std::abs(next - b);
        if (next == b || width <= 4e-16 * std::abs(next)) return next;
        b = next;
        slope = at.slope(b);
    }
    return b;
}

}  // namespace widemargin
