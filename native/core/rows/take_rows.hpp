// Some rows of a matrix, copied into one of their own, in the order asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/rows/transpose.hpp"

namespace widemargin {

// Where the entries of the taken rows begin, and their columns. Values are left to the caller.
template <class T, class Rows>
OwnedSparse<T> take_pattern(const Rows& X, const std::vector<int64_t>& wanted) {
    OwnedSparse<T> out;
    out.indptr.assign(1, 0);
    for (const int64_t i : wanted) out.indptr.push_back(out.indptr.back() + X.nnz(i));
    out.indices.resize(size_t(out.indptr.back()));
    for (size_t r = 0; r < wanted.size(); ++r) {
        const int64_t begin = X.indptr[wanted[r]];
        std::copy_n(X.indices + begin, X.nnz(wanted[r]), out.indices.begin() + out.indptr[r]);
    }
    return out;
}

template <class T>
OwnedSparse<T> take_sparse(const SparseRows<T>& X, const std::vector<int64_t>& wanted) {
    OwnedSparse<T> out = take_pattern<T>(X, wanted);
    out.values.resize(out.indices.size());
    for (size_t r = 0; r < wanted.size(); ++r)
        std::copy_n(X.values + X.indptr[wanted[r]], X.nnz(wanted[r]), out.values.begin() + out.indptr[r]);
    return out;
}

// `values` holds one value per row.
inline OwnedSparse<double> take_uniform(const UniformRows& X, const std::vector<int64_t>& wanted) {
    OwnedSparse<double> out = take_pattern<double>(X, wanted);
    for (const int64_t i : wanted) out.values.push_back(X.row_values[i]);
    return out;
}

template <class T>
std::vector<T> take_dense(const DenseRows<T>& X, const std::vector<int64_t>& wanted) {
    std::vector<T> out(wanted.size() * size_t(X.n_cols));
    for (size_t r = 0; r < wanted.size(); ++r)
        std::copy_n(X.data + wanted[r] * X.stride, X.n_cols, out.begin() + int64_t(r) * X.n_cols);
    return out;
}

}  // namespace widemargin
