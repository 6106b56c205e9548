// One pass over the rows each: products with X and its transpose, the loss with its gradient, Hessian products.
// Sums are taken in an order fixed by the data alone, so no result depends on the number of threads:
//   - one value per row: rows are independent;
//   - sums over rows: partial sums of fixed blocks of rows, added in order;
//   - one value per column: always added in row order, each thread owning a range of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/losses.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace widemargin {

inline constexpr int64_t rows_per_block = 1024;

inline int64_t count_blocks(int64_t n_rows) {
    return (n_rows + rows_per_block - 1) / rows_per_block;
}

// Calls body(first, last) for each fixed block of rows and returns the sum of what it returns, added in order.
template <class Body>
double sum_over_blocks(int64_t n_rows, int n_threads, Body&& body) {
    std::vector<double> partial(size_t(count_blocks(n_rows)));
    parallel_for(int64_t(partial.size()), n_threads, [&](int64_t block) {
        const int64_t first = block * rows_per_block;
        partial[size_t(block)] = body(first, std::min(first + rows_per_block, n_rows));
    });
    double total = 0;
    for (const double p : partial) total += p;
    return total;
}

// Column boundaries that give each piece about the same number of entries, judged from a sample of rows.
template <class Rows>
std::vector<int32_t> split_columns(const Rows& X, int64_t n_pieces) {
    std::vector<int32_t> sample;
    const int64_t step = std::max<int64_t>(1, X.n_rows / 64);
    for (int64_t i = 0; i < X.n_rows; i += step) X[i].for_each([&](int32_t j, double) { sample.push_back(j); });
    std::sort(sample.begin(), sample.end());
    std::vector<int32_t> bounds{0};
    for (int64_t piece = 1; piece < n_pieces; ++piece) {
        const auto at = sample.size() * size_t(piece) / size_t(n_pieces);
        bounds.push_back(sample.empty() ? bounds.back() : std::max(bounds.back(), sample[at]));
    }
    bounds.push_back(int32_t(X.n_cols));
    return bounds;
}

// z = X w + b
template <class Rows>
void matvec(const Rows& X, const double* w, double b, double* z, int n_threads) {
    parallel_for(count_blocks(X.n_rows), n_threads, [&](int64_t block) {
        const int64_t last = std::min((block + 1) * rows_per_block, X.n_rows);
        for (int64_t i = block * rows_per_block; i < last; ++i) z[i] = X[i].dot(w) + b;
    });
}

// g += X^T u; rows with u_i = 0 cost nothing.
template <class Rows>
void rmatvec(const Rows& X, const double* u, double* g, int n_threads) {
    if (n_threads <= 1) {
        for (int64_t i = 0; i < X.n_rows; ++i)
            if (u[i] != 0) X[i].axpy(u[i], g);
        return;
    }
    const auto bounds = split_columns(X, 2 * n_threads);
    parallel_for(int64_t(bounds.size()) - 1, n_threads, [&](int64_t piece) {
        const int32_t first = bounds[size_t(piece)], last = bounds[size_t(piece) + 1];
        for (int64_t i = 0; i < X.n_rows; ++i)
            if (u[i] != 0) X[i].between(first, last).axpy(u[i], g);
    });
}

// Per row z_i = x_i . w + b, then u_i = dual(i, z_i); g += X^T u. Returns the sum of what `value(i, z_i)` gives.
// On one thread the row is still in the cache when its second use comes.
template <class Rows, class Value, class Dual>
double two_sided_pass(const Rows& X, const double* w, double b, double* u, double* g, int n_threads, Value&& value,
                      Dual&& dual) {
    const bool fused = n_threads <= 1;
    const double total = sum_over_blocks(X.n_rows, n_threads, [&](int64_t first, int64_t last) {
        double sum = 0;
        for (int64_t i = first; i < last; ++i) {
            const auto row = X[i];
            const double z = row.dot(w) + b;
            sum += value(i, z);
            u[i] = dual(i, z);
            if (fused && u[i] != 0) row.axpy(u[i], g);
        }
        return sum;
    });
    if (!fused) rmatvec(X, u, g, n_threads);
    return total;
}

// The loss part of the objective at (w, b): returns sum C_i loss(z_i), fills z, u_i = C_i loss'(z_i), and g += X^T u.
template <class Rows, class Loss>
double loss_pass(const Rows& X, const Loss& loss, const double* y, const double* C, const double* w, double b,
                 double* z, double* u, double* g, int n_threads) {
    return two_sided_pass(
        X, w, b, u, g, n_threads,
        [&](int64_t i, double zi) {
            z[i] = zi;
            return C[i] * loss.value(zi, y[i]);
        },
        [&](int64_t i, double zi) { return C[i] * loss.derivative(zi, y[i]); });
}

// g += X^T diag(h) (X v + c): rows with h_i = 0 are not read. t receives the scaled products h_i (x_i . v + c);
// their sum is returned, which is the intercept's component.
template <class Rows>
double hess_vec(const Rows& X, const double* h, const double* v, double c, double* t, double* g, int n_threads) {
    const bool fused = n_threads <= 1;
    const double total = sum_over_blocks(X.n_rows, n_threads, [&](int64_t first, int64_t last) {
        double sum = 0;
        for (int64_t i = first; i < last; ++i) {
            t[i] = 0;
            if (h[i] == 0) continue;
            const auto row = X[i];
            t[i] = h[i] * (row.dot(v) + c);
            sum += t[i];
            if (fused) row.axpy(t[i], g);
        }
        return sum;
    });
    if (!fused) rmatvec(X, t, g, n_threads);
    return total;
}

// d_j += sum_i h_i x_ij^2: the diagonal of X^T diag(h) X.
template <class Rows>
void weighted_column_sqnorms(const Rows& X, const double* h, double* d) {
    for (int64_t i = 0; i < X.n_rows; ++i)
        if (h[i] != 0) X[i].for_each([&](int32_t j, double x) { d[j] += h[i] * x * x; });
}

template <class Rows>
void row_sqnorms(const Rows& X, double* out) {
    for (int64_t i = 0; i < X.n_rows; ++i) out[i] = X[i].sqnorm();
}

}  // namespace widemargin
