// X^T u as if summed in twice the precision of double: Ogita, Rump, Oishi, "Accurate sum and dot product" (2005), Dot2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"

namespace widemargin {

// What a + b loses by rounding (Knuth).
inline double sum_error(double a, double b, double sum) {
    const double other = sum - a;
    return (a - (sum - other)) + (b - other);
}

// The upper half of the digits (Veltkamp).
inline double upper_half(double a) {
    const double c = 134217729.0 * a;  // 2^27 + 1
    return c - (c - a);
}

// What a b loses by rounding (Dekker).
inline double product_error(double a, double b, double product) {
    const double a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
    return a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
}

// g + error += X^T u, for rows that come in parts: what rounding loses of g is added up in `error`.
template <class Rows>
void add_accurately(const Rows& X, const double* u, double* g, double* error) {
    for (int64_t i = 0; i < X.n_rows; ++i) {
        const double factor = u[i];
        if (factor == 0) continue;
        X[i].for_each([&](int32_t j, double x) {
            const double product = factor * x, sum = g[j] + product;
            error[j] += sum_error(g[j], product, sum) + product_error(factor, x, product);
            g[j] = sum;
        });
    }
}

// g = X^T u
template <class Rows>
void accurate_rmatvec(const Rows& X, const double* u, double* g) {
    std::vector<double> error(size_t(X.n_cols), 0.0);
    std::fill(g, g + X.n_cols, 0.0);
    add_accurately(X, u, g, error.data());
    for (int64_t j = 0; j < X.n_cols; ++j) g[j] += error[size_t(j)];
}

}  // namespace widemargin
