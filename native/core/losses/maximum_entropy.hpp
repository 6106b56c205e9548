// Multinomial logistic loss: sum_i C_i (log sum_m exp(z_im) - z_iy). One pass gives value and gradient, one a Hessian
// product; along a known direction in the scores no data are read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/passes/class_rows.hpp"

namespace widemargin {

// p = softmax(z); returns log sum exp(z) - z_y. p may be z itself.
inline double softmax(const double* z, int64_t k, int32_t y, double* p) {
    const double top = *std::max_element(z, z + k), own = z[y] - top;
    double sum = 0;
    for (int64_t c = 0; c < k; ++c) sum += p[c] = std::exp(z[c] - top);
    const double scale = 1 / sum;
    for (int64_t c = 0; c < k; ++c) p[c] *= scale;
    return std::log(sum) - own;
}

// G += [X s]^T T with t_i = C_i (diag(p_i) - p_i p_i^T) (V^T x_i). T and Q are scratch.
template <class Rows>
void entropy_hess_vec(const Rows& X, const double* P, const double* C, const ClassWeights<const double>& V, double* Q,
                      double* T, const ClassWeights<double>& G, int n_threads) {
    const int64_t k = V.n_classes;
    class_two_sided_pass(X, V, Q, T, G, n_threads, [&](int64_t i, const double* q, double* t) {
        const double* p = P + i * k;
        double mean = 0;
        for (int64_t c = 0; c < k; ++c) mean += p[c] * q[c];
        for (int64_t c = 0; c < k; ++c) t[c] = C[i] * p[c] * (q[c] - mean);
        return 0.0;
    });
}

struct RayLook {
    double value, slope, curvature;
};

// The losses at Z + t dZ with their first and second derivative in t. P becomes the softmax there.
inline RayLook entropy_ray(int64_t n_rows, int64_t k, const int32_t* y, const double* C, const double* Z,
                           const double* dZ, double t, double* P, int n_threads) {
    std::vector<double> slopes(static_cast<size_t>(count_blocks(n_rows))), bends(slopes.size());
    const double value = sum_over_blocks(n_rows, n_threads, [&](int64_t first, int64_t last) {
        double sum = 0, slope = 0, bend = 0;
        for (int64_t i = first; i < last; ++i) {
            double* p = P + i * k;
            const double* d = dZ + i * k;
            for (int64_t c = 0; c < k; ++c) p[c] = Z[i * k + c] + t * d[c];
            sum += C[i] * softmax(p, k, y[i], p);
            double mean = 0, square = 0;
            for (int64_t c = 0; c < k; ++c) mean += p[c] * d[c];
            for (int64_t c = 0; c < k; ++c) square += p[c] * (d[c] - mean) * (d[c] - mean);
            slope += C[i] * (mean - d[y[i]]);
            bend += C[i] * square;
        }
        slopes[size_t(first / rows_per_block)] = slope;
        bends[size_t(first / rows_per_block)] = bend;
        return sum;
    });
    double slope = 0, bend = 0;
    for (const double s : slopes) slope += s;
    for (const double b : bends) bend += b;
    return {value, slope, bend};
}

}  // namespace widemargin
