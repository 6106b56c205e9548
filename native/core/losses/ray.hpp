// The losses along a ray of predictions z + t dz: what a line search asks, in O(rows) and without the data.
// Sums are taken over fixed blocks of rows, added in order, so no result depends on the number of threads.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses/losses.hpp"
#include "core/passes/passes.hpp"
#include "core/system/parallel.hpp"

namespace widemargin {

template <class Loss>
std::pair<double, double> slope_at(const Loss& loss, double z, double y) {
    return {loss.derivative(z, y), loss.curvature(z, y)};
}

inline std::pair<double, double> slope_at(const Logistic&, double z, double y) {
    const double m = y * z, e = std::exp(-std::abs(m)), p = 1 / (1 + e);
    return {-y * (m > 0 ? e * p : p), e * p * p};
}

// Adds up C_i loss_i and tells each row's slope and curvature on the way.
template <class Loss>
struct LossTotal {
    double sum = 0;
    std::pair<double, double> add(const Loss& loss, double z, double y, double C) {
        sum += C * loss.value(z, y);
        return slope_at(loss, z, y);
    }
    double total() const { return sum; }
};

// One exponential per row serves all three, and rows of equal weight share one logarithm:
// log(1 + a) + log(1 + b) = log((1 + a) (1 + b)).
template <>
struct LossTotal<Logistic> {
    static constexpr int most = 512;  // factors of at most 2, whose product a double holds
    double sum = 0, weight = 0, product = 1;
    int count = 0;

    std::pair<double, double> add(const Logistic&, double z, double y, double C) {
        const double m = y * z, e = std::exp(-std::abs(m)), p = 1 / (1 + e);
        if (C != weight || count == most) {
            sum += weight * std::log(product);
            weight = C, product = 1, count = 0;
        }
        if (e < 1e-5) {  // 1 + e would round it away
            sum += C * e * (1 - e * (0.5 - e * (1.0 / 3)));
        } else {
            product *= 1 + e;
            ++count;
        }
        if (m < 0) sum -= C * m;
        return {-y * (m > 0 ? e * p : p), e * p * p};
    }
    double total() const { return sum + weight * std::log(product); }
};

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

    // The first and second derivative of value(t).
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
            LossTotal<Loss> losses;
            for (int64_t i = first; i < last; ++i) {
                there[i] = z[i] + t * dz[i];
                const auto [derivative, curvature] = losses.add(loss, there[i], y[i], C[i]);
                u[i] = C[i] * derivative;
                h[i] = C[i] * curvature;
            }
            return losses.total();
        });
    }
};

}  // namespace widemargin
