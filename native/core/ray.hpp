// The losses along a ray of predictions z + t dz: what a line search asks, in O(rows) and without the data.
// Sums are taken over fixed blocks of rows, added in order, so no result depends on the number of threads.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses.hpp"
#include "core/parallel.hpp"
#include "core/passes.hpp"

namespace widemargin {

// A loss at one prediction.
struct LossAt {
    double value, derivative, curvature;
};

template <class Loss>
LossAt loss_at(const Loss& loss, double z, double y) {
    return {loss.value(z, y), loss.derivative(z, y), loss.curvature(z, y)};
}

// All three share one exponential.
inline LossAt loss_at(const Logistic&, double z, double y) {
    const double m = y * z, e = std::exp(-std::abs(m)), p = 1 / (1 + e);
    return {std::log1p(e) + (m > 0 ? 0.0 : -m), -y * (m > 0 ? e * p : p), e * p * p};
}

template <class Loss>
std::pair<double, double> slope_at(const Loss& loss, double z, double y) {
    return {loss.derivative(z, y), loss.curvature(z, y)};
}

inline std::pair<double, double> slope_at(const Logistic&, double z, double y) {
    const double m = y * z, e = std::exp(-std::abs(m)), p = 1 / (1 + e);
    return {-y * (m > 0 ? e * p : p), e * p * p};
}

template <class Loss>
struct Ray {
    const Loss& loss;
    int64_t n;
    const double *z, *dz, *y, *C;
    int n_threads;

    // sum_i C_i loss(z_i + t dz_i)
    double value(double t) const {
        return sum_over_blocks(n, n_threads, [&](int64_t first, int64_t last) {
            double sum = 0;
            for (int64_t i = first; i < last; ++i) sum += C[i] * loss.value(z[i] + t * dz[i], y[i]);
            return sum;
        });
    }

    // Its first and second derivative in t.
    std::pair<double, double> slope(double t) const {
        std::vector<double> second(size_t(count_blocks(n)));
        const double slope = sum_over_blocks(n, n_threads, [&](int64_t first, int64_t last) {
            double sum = 0, bend = 0;
            for (int64_t i = first; i < last; ++i) {
                const auto [derivative, curvature] = slope_at(loss, z[i] + t * dz[i], y[i]);
                const double a = C[i] * dz[i];
                sum += a * derivative;
                bend += a * curvature * dz[i];
            }
            second[size_t(first / rows_per_block)] = bend;
            return sum;
        });
        double curvature = 0;
        for (const double bend : second) curvature += bend;
        return {slope, curvature};
    }

    // Goes to z + t dz: fills the predictions there, u_i = C_i loss' and h_i = C_i loss'', and returns the value.
    double go(double t, double* there, double* u, double* h) const {
        return sum_over_blocks(n, n_threads, [&](int64_t first, int64_t last) {
            double sum = 0;
            for (int64_t i = first; i < last; ++i) {
                there[i] = z[i] + t * dz[i];
                const LossAt at = loss_at(loss, there[i], y[i]);
                sum += C[i] * at.value;
                u[i] = C[i] * at.derivative;
                h[i] = C[i] * at.curvature;
            }
            return sum;
        });
    }
};

}  // namespace widemargin
