// Columns from rows: a counting sort by column, about one pass over memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"

namespace widemargin {

template <class T>
struct OwnedSparse {
    std::vector<int64_t> indptr;
    std::vector<int32_t> indices;
    std::vector<T> values;
};

// The rows of the result are the columns of X; their indices ascend because the rows are visited in order.
template <class T, class Rows>
OwnedSparse<T> transpose_sparse(const Rows& X) {
    OwnedSparse<T> out;
    out.indptr.assign(size_t(X.n_cols) + 1, 0);
    const int64_t nnz = X.nnz();
    // Where columns are many, each entry goes to a place of its own in memory, asked for in good time.
    constexpr int64_t far = 32, near = 16;
    for (int64_t k = 0; k < nnz; ++k) {
        if (k + far < nnz) prefetch(&out.indptr[size_t(X.indices[k + far]) + 1]);
        ++out.indptr[size_t(X.indices[k]) + 1];
    }
    for (int64_t j = 0; j < X.n_cols; ++j) out.indptr[size_t(j) + 1] += out.indptr[size_t(j)];
    out.indices.resize(size_t(nnz));
    out.values.resize(size_t(nnz));
    std::vector<int64_t> next(out.indptr.begin(), out.indptr.end() - 1);
    int64_t k = 0;
    for (int64_t i = 0; i < X.n_rows; ++i)
        X[i].for_each([&](int32_t j, double x) {
            if (k + far < nnz) {
                prefetch(&next[size_t(X.indices[k + far])]);
                const auto soon = size_t(next[size_t(X.indices[k + near])]);
                prefetch(&out.indices[soon]);
                prefetch(&out.values[soon]);
            }
            ++k;
            const auto at = size_t(next[size_t(j)]++);
            out.indices[at] = int32_t(i);
            out.values[at] = T(x);
        });
    return out;
}

template <class T>
std::vector<T> transpose_dense(const DenseRows<T>& X) {
    std::vector<T> out(size_t(X.n_rows * X.n_cols));
    constexpr int64_t tile = 32;
    for (int64_t i0 = 0; i0 < X.n_rows; i0 += tile)
        for (int64_t j0 = 0; j0 < X.n_cols; j0 += tile)
            for (int64_t i = i0; i < std::min(i0 + tile, X.n_rows); ++i)
                for (int64_t j = j0; j < std::min(j0 + tile, X.n_cols); ++j)
                    out[size_t(j * X.n_rows + i)] = X.data[i * X.stride + j];
    return out;
}

}  // namespace widemargin
