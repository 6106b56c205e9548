// Rows made smaller for dual coordinate descent, exactly.
//
// Private features: a column with one entry x_ij touches the dual problem only through row i itself. With penalty l2
// its weight is always v_i x_ij, so it adds x_ij^2 v_i to that row's prediction: all private features of a row fold
// into one number, the row's `private_part`, and leave the passes and w. Hot first: the remaining columns are
// renumbered by falling frequency (in classes of powers of two), so that the weights that most rows touch lie together
// and stay in the cache. Narrow: values that float32 holds exactly are stored so.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/system/huge.hpp"

namespace widemargin {

template <class T>
struct CompactRows {
    HugeVector<int64_t> indptr;
    HugeVector<int32_t> indices;  // not sorted within a row
    HugeVector<T> values;         // empty for uniform rows
    std::vector<double> private_part;
    int64_t n_cols = 0;
};

// Whether every value survives the way to float32 and back.
template <class T>
bool fits_float(const T* values, int64_t n) {
    for (int64_t k = 0; k < n; ++k)
        if (double(float(values[k])) != double(values[k])) return false;
    return true;
}

// The new number of each column, -1 for a private or empty one.
inline std::vector<int32_t> number_hot_first(const std::vector<uint32_t>& counts, int64_t& n_shared) {
    int64_t first[33] = {};
    for (const uint32_t c : counts)
        if (c > 1) ++first[32 - std::bit_width(c)];
    int64_t at = 0;
    for (auto& f : first) {
        const int64_t size = f;
        f = at;
        at += size;
    }
    n_shared = at;
    std::vector<int32_t> number(counts.size(), -1);
    for (size_t j = 0; j < counts.size(); ++j)
        if (counts[j] > 1) number[j] = int32_t(first[32 - std::bit_width(counts[j])]++);
    return number;
}

// Values are stored as T, or left out where a row holds one value alone.
template <class T, class Rows>
CompactRows<T> compact(const Rows& X, bool keep_values) {
    std::vector<uint32_t> counts(size_t(X.n_cols), 0);
    const int64_t nnz = X.nnz();
    for (int64_t k = 0; k < nnz; ++k) ++counts[size_t(X.indices[k])];
    CompactRows<T> out;
    const auto number = number_hot_first(counts, out.n_cols);
    out.indptr.reserve(size_t(X.n_rows) + 1);
    out.indptr.push_back(0);
    out.private_part.reserve(size_t(X.n_rows));
    out.indices.resize(size_t(nnz));
    if (keep_values) out.values.resize(size_t(nnz));
    size_t kept = 0;
    for (int64_t i = 0; i < X.n_rows; ++i) {
        double folded = 0;
        X[i].for_each([&](int32_t j, double x) {
            const int32_t renumbered = number[size_t(j)];
            if (renumbered < 0) {
                folded += x * x;
                return;
            }
            out.indices[kept] = renumbered;
            if (keep_values) out.values[kept] = T(x);
            ++kept;
        });
        out.private_part.push_back(folded);
        out.indptr.push_back(int64_t(kept));
    }
    return out;
}

}  // namespace widemargin
