// X^T diag(h) X for Newton's method, bordered by a constant column that stands for the intercept.
//
// Sparse rows: each row with h_i != 0 adds its outer product, sum of nnz_i^2 / 2 additions in all. Threads share the
// rows, in fixed pieces with a private matrix each (see pieces.hpp); where the matrix is too large for that, they share
// its lines, each of which is added up in row order. The number of threads does not change a bit.
// Dense rows are only gathered and scaled here, block by block; the product of a block is left to BLAS.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/passes/pieces.hpp"
#include "core/rows/rows.hpp"
#include "core/system/parallel.hpp"

namespace widemargin {

// The result's lines are visited at random by a row: as many as this many bytes hold stay in the cache.
inline constexpr int64_t gram_tile_bytes = int64_t(1) << 20;

// Boundaries of ranges of lines that cost about the same, judged from a sample of rows: the k-th entry of a row costs
// its tail.
template <class Rows>
std::vector<int32_t> split_lines(const Rows& X, int64_t n_pieces) {
    std::vector<double> work(size_t(X.n_cols), 0.0);
    const int64_t step = std::max<int64_t>(1, X.n_rows / 512);
    double total = 0;
    for (int64_t i = 0; i < X.n_rows; i += step) {
        const auto row = X[i];
        for (int64_t k = 0; k < row.size; ++k) work[size_t(row.column(k))] += double(row.size - k);
        total += 0.5 * double(row.size) * double(row.size + 1);
    }
    std::vector<int32_t> bounds{0};
    double sum = 0;
    for (int64_t j = 0; j < X.n_cols && int64_t(bounds.size()) < n_pieces; ++j) {
        sum += work[size_t(j)];
        if (sum >= total * double(bounds.size()) / double(n_pieces)) bounds.push_back(int32_t(j + 1));
    }
    if (bounds.back() < int32_t(X.n_cols)) bounds.push_back(int32_t(X.n_cols));
    return bounds;
}

// Few pieces cost little overhead per row; many keep each thread's lines in its cache.
template <class Rows>
int64_t count_line_pieces(const Rows& X, int64_t order, int n_threads) {
    const int64_t for_cache = order * order * int64_t(sizeof(double)) / (2 * gram_tile_bytes);
    const int64_t row_length = X.nnz() / std::max<int64_t>(1, X.n_rows);
    const int64_t worth_it = std::clamp<int64_t>(for_cache, 1, std::max<int64_t>(1, row_length / 16));
    return n_threads <= 1 ? worth_it : std::max<int64_t>(worth_it, 2 * n_threads);
}

// Adds lines [from, to) of the outer product h x x^T, counted in the row's entries: four lines at once, so that an
// entry's column is looked up once for all of them.
template <class Row>
void add_outer_product(const Row& row, double h, int64_t from, int64_t to, double* H, int64_t order) {
    const auto line = [&](int64_t k) { return H + int64_t(row.column(k)) * order; };
    int64_t k = from;
    for (; k + 4 <= to; k += 4) {
        const double a0 = h * row.entry(k), a1 = h * row.entry(k + 1), a2 = h * row.entry(k + 2),
                     a3 = h * row.entry(k + 3);
        double *l0 = line(k), *l1 = line(k + 1), *l2 = line(k + 2), *l3 = line(k + 3);
        for (int64_t j = k; j < k + 4; ++j) l0[row.column(j)] += a0 * row.entry(j);
        for (int64_t j = k + 1; j < k + 4; ++j) l1[row.column(j)] += a1 * row.entry(j);
        for (int64_t j = k + 2; j < k + 4; ++j) l2[row.column(j)] += a2 * row.entry(j);
        l3[row.column(k + 3)] += a3 * row.entry(k + 3);
        for (int64_t j = k + 4; j < row.size; ++j) {
            const int32_t column = row.column(j);
            const double x = row.entry(j);
            // All four are read before any is written: no element is shared, which the compiler cannot know.
            const double s0 = l0[column] + a0 * x, s1 = l1[column] + a1 * x;
            const double s2 = l2[column] + a2 * x, s3 = l3[column] + a3 * x;
            l0[column] = s0, l1[column] = s1, l2[column] = s2, l3[column] = s3;
        }
    }
    for (; k < to; ++k) row.tail(k).axpy(h * row.entry(k), line(k));
}

// Adds the outer products h_i x_i x_i^T of the rows in [begin, end), in the lines of columns [first, last), with the
// constant column.
template <class Rows>
void add_row_products(const Rows& X, const double* h, double s, int64_t begin, int64_t end, int32_t first, int32_t last,
                      double* H, int64_t order) {
    const bool all = first == 0 && last == int32_t(X.n_cols);
    for (int64_t i = begin; i < end; ++i) {
        if (h[i] == 0) continue;
        const auto row = X[i];
        const int64_t from = all ? 0 : row.position(first), to = all ? row.size : row.position(last);
        add_outer_product(row, h[i], from, to, H, order);
        if (s == 0) continue;
        const double scale = h[i] * s;
        for (int64_t k = from; k < to; ++k) H[int64_t(row.column(k)) * order + order - 1] += scale * row.entry(k);
    }
}

// H += [X s]^T diag(h) [X s], upper triangle, where s is a constant column (no such column if s = 0).
// H has `order` lines of `order` elements, order = n_cols or, with the constant column, n_cols + 1.
template <class Rows>
void add_gram(const Rows& X, const double* h, double s, double* H, int n_threads) {
    const int64_t order = X.n_cols + (s != 0 ? 1 : 0);
    const auto all = int32_t(X.n_cols);
    int64_t work = 0;
    for (int64_t i = 0; i < X.n_rows; ++i)
        if (h[i] != 0) work += X.nnz(i) * X.nnz(i) / 2;
    const bool fits_the_cache = order * order * int64_t(sizeof(double)) <= 4 * gram_tile_bytes;
    const RowPieces pieces(X.n_rows, fits_the_cache ? work : 0, order * order);
    if (pieces.single()) {
        const auto bounds = split_lines(X, count_line_pieces(X, order, n_threads));
        parallel_for(int64_t(bounds.size()) - 1, n_threads, [&](int64_t piece) {
            add_row_products(X, h, s, 0, X.n_rows, bounds[size_t(piece)], bounds[size_t(piece) + 1], H, order);
        });
    } else {
        pieces.add_up(order * order, H, n_threads, [&](int64_t first, int64_t last, double* sum) {
            add_row_products(X, h, s, first, last, 0, all, sum, order);
        });
    }
    if (s == 0) return;
    double sum = 0;
    for (int64_t i = 0; i < X.n_rows; ++i) sum += h[i];
    H[order * order - 1] += s * s * sum;
}

// Copies the rows in [first, last) with sign * h_i > 0, scaled by sqrt(|h_i|), into the lines of `out`, which has room
// for all of them. Returns the number of lines filled.
template <class Rows>
int64_t gather_scaled(const Rows& X, const double* h, double sign, int64_t first, int64_t last, double s, double* out) {
    const int64_t order = X.n_cols + (s != 0 ? 1 : 0);
    int64_t filled = 0;
    for (int64_t i = first; i < last; ++i) {
        if (!(sign * h[i] > 0)) continue;
        const double scale = std::sqrt(std::abs(h[i]));
        double* line = out + filled * order;
        std::fill(line, line + order, 0.0);
        X[i].axpy(scale, line);
        if (s != 0) line[order - 1] = scale * s;
        ++filled;
    }
    return filled;
}

}  // namespace widemargin
