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

// The losses at W: Z, P = softmax(Z) and G += [X s]^T U with u_i = C_i (p_i - e_y). U is scratch.
template <class Rows>
double entropy_pass(const Rows& X, const int32_t* y, const double* C, const ClassWeights<const double>& W, double* Z,
                    double* P, double* U, const ClassWeights<double>& G, int n_threads) {
    const int64_t k = W.n_classes;
    return class_two_sided_pass(X, W, Z, U, G, n_threads, [&](int64_t i, const double* z, double* u) {
        double* p = P + i * k;
        const double loss = softmax(z, k, y[i], p);
        for (int64_t c = 0; c < k; ++c) u[c] = C[i] * p[c];
        u[y[i]] -= C[i];
        return C[i] * loss;
    });
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

// D += the Hessian's diagonal, sum_i C_i p_im (1 - p_im) x_ij^2.
template <class Rows>
void entropy_diagonal(const Rows& X, const double* P, const double* C, const ClassWeights<double>& D) {
    const int64_t k = D.n_classes;
    std::vector<double> h(static_cast<size_t>(k));
    for (int64_t i = 0; i < X.n_rows; ++i) {
        for (int64_t c = 0; c < k; ++c) h[size_t(c)] = C[i] * P[i * k + c] * (1 - P[i * k + c]);
        X[i].for_each([&](int32_t j, double x) {
            double* d = D.w + int64_t(j) * k;
            for (int64_t c = 0; c < k; ++c) d[c] += x * x * h[size_t(c)];
        });
        if (D.constant != 0)
            for (int64_t c = 0; c < k; ++c) D.constant_row()[c] += D.constant * D.constant * h[size_t(c)];
    }
}

struct RayLook {
    double value, slope;
};

// The losses at Z + t dZ, and how fast they change there. P becomes the softmax there.
inline RayLook entropy_ray(int64_t n_rows, int64_t k, const int32_t* y, const double* C, const double* Z,
                           const double* dZ, double t, double* P, int n_threads) {
    std::vector<double> slopes(static_cast<size_t>(count_blocks(n_rows)));
    const double value = sum_over_blocks(n_rows, n_threads, [&](int64_t first, int64_t last) {
        double sum = 0, slope = 0;
        for (int64_t i = first; i < last; ++i) {
            double* p = P + i * k;
            const double* d = dZ + i * k;
            for (int64_t c = 0; c < k; ++c) p[c] = Z[i * k + c] + t * d[c];
            sum += C[i] * softmax(p, k, y[i], p);
            double mean = -d[y[i]];
            for (int64_t c = 0; c < k; ++c) mean += p[c] * d[c];
            slope += C[i] * mean;
        }
        slopes[size_t(first / rows_per_block)] = slope;
        return sum;
    });
    double slope = 0;
    for (const double s : slopes) slope += s;
    return {value, slope};
}

}  // namespace widemargin
