// One pass over the rows each: products with X and its transpose, the loss with its gradient, Hessian products.
// Sums are taken in an order fixed by the data alone, so no result depends on the number of threads:
//   - one value per row: rows are independent;
//   - sums over rows: partial sums of fixed blocks of rows, added in order;
//   - one value per column, few columns: a private vector for each of a fixed number of pieces of rows, added in order,
//     on one thread too (see pieces.hpp);
//   - one value per column, many columns: always added in row order, each thread owning a range of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/losses/losses.hpp"
#include "core/passes/pieces.hpp"
#include "core/rows/rows.hpp"
#include "core/system/parallel.hpp"

namespace widemargin {

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

// Pieces of rows for a pass whose result is one value per column; a single one where a vector for each would be
// expensive beside the entries themselves.
template <class Rows>
RowPieces column_pieces(const Rows& X) {
    return {X.n_rows, X.nnz(), X.n_cols};
}

// g += X^T u by ranges of columns, for more than one thread.
template <class Rows>
void rmatvec_by_columns(const Rows& X, const double* u, double* g, int n_threads) {
    // One range per thread, because finding its ends in every row costs as much as many entries.
    const auto bounds = split_columns(X, n_threads);
    parallel_for(int64_t(bounds.size()) - 1, n_threads, [&](int64_t piece) {
        const int32_t first = bounds[size_t(piece)], last = bounds[size_t(piece) + 1];
        for (int64_t i = 0; i < X.n_rows; ++i)
            if (u[i] != 0) X[i].between(first, last, int32_t(X.n_cols)).axpy(u[i], g);
    });
}

// g += X^T u; rows with u_i = 0 cost nothing.
template <class Rows>
void rmatvec(const Rows& X, const double* u, double* g, int n_threads) {
    const auto pieces = column_pieces(X);
    if (pieces.single() && n_threads > 1) return rmatvec_by_columns(X, u, g, n_threads);
    pieces.add_up(X.n_cols, g, n_threads, [&](int64_t first, int64_t last, double* sum) {
        for (int64_t i = first; i < last; ++i)
            if (u[i] != 0) X[i].axpy(u[i], sum);
    });
}

// u_i = dual(i) and g += X^T u, in one pass: the row is still in the cache when its second use comes. `dual` also adds
// to what is summed over the rows; that sum is returned.
template <class Rows, class Dual>
double two_sided_pass(const Rows& X, double* u, double* g, int n_threads, Dual&& dual) {
    const auto pieces = column_pieces(X);
    const bool fused = n_threads <= 1 || !pieces.single();
    std::vector<double> partial(size_t(count_blocks(X.n_rows)));
    const auto block = [&](int64_t first, int64_t last, double* sum) {
        double total = 0;
        for (int64_t i = first; i < last; ++i) {
            u[i] = dual(i, total);
            if (sum != nullptr && u[i] != 0) X[i].axpy(u[i], sum);
        }
        partial[size_t(first / rows_per_block)] = total;
    };
    if (fused) {
        pieces.add_up(X.n_cols, g, n_threads, [&](int64_t first, int64_t last, double* sum) {
            for (; first < last; first += rows_per_block) block(first, std::min(first + rows_per_block, last), sum);
        });
    } else {
        parallel_for(count_blocks(X.n_rows), n_threads, [&](int64_t k) {
            block(k * rows_per_block, std::min((k + 1) * rows_per_block, X.n_rows), nullptr);
        });
        rmatvec_by_columns(X, u, g, n_threads);
    }
    double total = 0;
    for (const double p : partial) total += p;
    return total;
}
// g += X^T diag(h) (X v + c): rows with h_i = 0 are not read. t receives the scaled products h_i (x_i . v + c);
// their sum is returned, which is the intercept's component.
template <class Rows>
double hess_vec(const Rows& X, const double* h, const double* v, double c, double* t, double* g, int n_threads) {
    return two_sided_pass(X, t, g, n_threads, [&](int64_t i, double& total) {
        if (h[i] == 0) return 0.0;
        const double scaled = h[i] * (X[i].dot(v) + c);
        total += scaled;
        return scaled;
    });
}

// d_j += sum_i h_i x_ij^2: the diagonal of X^T diag(h) X.
template <class Rows>
void weighted_column_sqnorms(const Rows& X, const double* h, double* d, int n_threads) {
    column_pieces(X).add_up(X.n_cols, d, n_threads, [&](int64_t first, int64_t last, double* sum) {
        for (int64_t i = first; i < last; ++i)
            if (h[i] != 0) X[i].for_each([&](int32_t j, double x) { sum[j] += h[i] * x * x; });
    });
}

template <class Rows>
void row_sqnorms(const Rows& X, double* out) {
    for (int64_t i = 0; i < X.n_rows; ++i) out[i] = X[i].sqnorm();
}

}  // namespace widemargin
