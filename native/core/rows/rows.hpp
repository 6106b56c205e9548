// The only place that knows how rows are stored. A row offers dot, axpy and sqnorm; everything above is written once
// over them. Columns are the rows of the transposed matrix, so the same types serve both.
#pragma once

#include <algorithm>
#include <cstdint>

namespace widemargin {

#if defined(__GNUC__)
inline void prefetch(const void* address) {
    __builtin_prefetch(address);
}
#else
inline void prefetch(const void*) {}
#endif

// How far ahead of use, counted in rows, a row's data and its pointers are asked for when rows are visited in random
// order: memory latency, not arithmetic, is what such a pass waits for.
inline constexpr int64_t prefetch_data = 4;
inline constexpr int64_t prefetch_pointers = 8;

inline constexpr int64_t cache_line = 64;

// Asks for the first bytes of a block; the hardware follows a longer sequential block by itself.
inline void prefetch_block(const void* begin, int64_t bytes) {
    const auto* address = static_cast<const char*>(begin);
    const int64_t reach = std::min<int64_t>(bytes, 8 * cache_line);
    for (int64_t offset = 0; offset < reach; offset += cache_line) prefetch(address + offset);
}

// Stored entries of one row: value[k] stands in column index[k]; indices ascend.
template <class T>
struct SparseRow {
    const int32_t* index;
    const T* value;
    int64_t size;

    // Four independent sums hide the latency of the gathers.
    template <class W>
    double dot(const W* w) const {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int64_t k = 0;
        for (; k + 4 <= size; k += 4) {
            s0 += double(value[k]) * double(w[index[k]]);
            s1 += double(value[k + 1]) * double(w[index[k + 1]]);
            s2 += double(value[k + 2]) * double(w[index[k + 2]]);
            s3 += double(value[k + 3]) * double(w[index[k + 3]]);
        }
        for (; k < size; ++k) s0 += double(value[k]) * double(w[index[k]]);
        return (s0 + s1) + (s2 + s3);
    }

    template <class W>
    void axpy(double a, W* w) const {
        for (int64_t k = 0; k < size; ++k) w[index[k]] = W(double(w[index[k]]) + a * double(value[k]));
    }

    double sqnorm() const {
        double s = 0;
        for (int64_t k = 0; k < size; ++k) s += double(value[k]) * double(value[k]);
        return s;
    }

    // The part of the row in columns [first, last); an end at the border of all n_cols columns needs no search.
    SparseRow between(int32_t first, int32_t last, int32_t n_cols = INT32_MAX) const {
        const int32_t *lo = index, *hi = index + size;
        if (first > 0) lo = std::lower_bound(lo, hi, first);
        if (last < n_cols) hi = std::lower_bound(lo, hi, last);
        return {lo, value + (lo - index), hi - lo};
    }

    // The k-th stored entry, and the entries from the k-th on.
    int32_t column(int64_t k) const { return index[k]; }
    double entry(int64_t k) const { return double(value[k]); }
    SparseRow tail(int64_t k) const { return {index + k, value + k, size - k}; }
    // The first stored entry in that column or a later one.
    int64_t position(int32_t column) const { return std::lower_bound(index, index + size, column) - index; }

    template <class F>
    void for_each(F&& f) const {
        for (int64_t k = 0; k < size; ++k) f(index[k], double(value[k]));
    }

    // The sum of f(column, value), in four independent parts like `dot`.
    template <class F>
    double sum(F&& f) const {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int64_t k = 0;
        for (; k + 4 <= size; k += 4) {
            s0 += f(index[k], double(value[k]));
            s1 += f(index[k + 1], double(value[k + 1]));
            s2 += f(index[k + 2], double(value[k + 2]));
            s3 += f(index[k + 3], double(value[k + 3]));
        }
        for (; k < size; ++k) s0 += f(index[k], double(value[k]));
        return (s0 + s1) + (s2 + s3);
    }
};

// A sparse row whose entries all hold the same value (binary features, scaled or not): no values are read at all.
struct UniformRow {
    const int32_t* index;
    double value;
    int64_t size;

    template <class W>
    double dot(const W* w) const {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int64_t k = 0;
        for (; k + 4 <= size; k += 4) {
            s0 += double(w[index[k]]);
            s1 += double(w[index[k + 1]]);
            s2 += double(w[index[k + 2]]);
            s3 += double(w[index[k + 3]]);
        }
        for (; k < size; ++k) s0 += double(w[index[k]]);
        return value * ((s0 + s1) + (s2 + s3));
    }

    template <class W>
    void axpy(double a, W* w) const {
        const double step = a * value;
        for (int64_t k = 0; k < size; ++k) w[index[k]] = W(double(w[index[k]]) + step);
    }

    double sqnorm() const { return value * value * double(size); }

    UniformRow between(int32_t first, int32_t last, int32_t n_cols = INT32_MAX) const {
        const int32_t *lo = index, *hi = index + size;
        if (first > 0) lo = std::lower_bound(lo, hi, first);
        if (last < n_cols) hi = std::lower_bound(lo, hi, last);
        return {lo, value, hi - lo};
    }

    int32_t column(int64_t k) const { return index[k]; }
    double entry(int64_t) const { return value; }
    UniformRow tail(int64_t k) const { return {index + k, value, size - k}; }
    int64_t position(int32_t column) const { return std::lower_bound(index, index + size, column) - index; }

    template <class F>
    void for_each(F&& f) const {
        for (int64_t k = 0; k < size; ++k) f(index[k], value);
    }

    template <class F>
    double sum(F&& f) const {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int64_t k = 0;
        for (; k + 4 <= size; k += 4) {
            s0 += f(index[k], value);
            s1 += f(index[k + 1], value);
            s2 += f(index[k + 2], value);
            s3 += f(index[k + 3], value);
        }
        for (; k < size; ++k) s0 += f(index[k], value);
        return (s0 + s1) + (s2 + s3);
    }
};

// A function of which there is one copy: where sums may be taken in any order, each inlined copy could choose another,
// and results would depend on who calls.
#if defined(_MSC_VER)
#define WIDEMARGIN_ONE_COPY __declspec(noinline)
#else
#define WIDEMARGIN_ONE_COPY __attribute__((noinline))
#endif

// A row with an entry in every column from `first` on.
template <class T>
struct DenseRow {
    const T* value;
    int64_t size;
    int64_t first = 0;

    template <class W>
    WIDEMARGIN_ONE_COPY double dot(const W* w) const {
        const W* v = w + first;
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < size; ++k) s += double(value[k]) * double(v[k]);
        return s;
    }

    template <class W>
    void axpy(double a, W* w) const {
        W* v = w + first;
#pragma omp simd
        for (int64_t k = 0; k < size; ++k) v[k] = W(double(v[k]) + a * double(value[k]));
    }

    double sqnorm() const {
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < size; ++k) s += double(value[k]) * double(value[k]);
        return s;
    }

    DenseRow between(int32_t begin, int32_t end, int32_t = 0) const { return {value + begin, end - begin, begin}; }

    int32_t column(int64_t k) const { return int32_t(first + k); }
    double entry(int64_t k) const { return double(value[k]); }
    DenseRow tail(int64_t k) const { return {value + k, size - k, first + k}; }
    int64_t position(int32_t column) const { return std::clamp<int64_t>(column - first, 0, size); }

    template <class F>
    void for_each(F&& f) const {
        for (int64_t k = 0; k < size; ++k) f(int32_t(first + k), double(value[k]));
    }

    template <class F>
    double sum(F&& f) const {
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < size; ++k) s += f(int32_t(first + k), double(value[k]));
        return s;
    }
};

// Compressed sparse rows: row i holds the entries indptr[i] .. indptr[i + 1].
template <class T>
struct SparseRows {
    using Value = T;
    int64_t n_rows, n_cols;
    const int64_t* indptr;
    const int32_t* indices;
    const T* values;

    SparseRow<T> operator[](int64_t i) const {
        return {indices + indptr[i], values + indptr[i], indptr[i + 1] - indptr[i]};
    }
    int64_t nnz() const { return indptr[n_rows]; }
    int64_t nnz(int64_t i) const { return indptr[i + 1] - indptr[i]; }
    void prefetch_row_pointer(int64_t i) const { prefetch(indptr + i); }
    void prefetch_row(int64_t i) const {
        const int64_t begin = indptr[i], size = indptr[i + 1] - begin;
        prefetch_block(indices + begin, size * int64_t(sizeof(int32_t)));
        prefetch_block(values + begin, size * int64_t(sizeof(T)));
    }
};

struct UniformRows {
    using Value = double;
    int64_t n_rows, n_cols;
    const int64_t* indptr;
    const int32_t* indices;
    const double* row_values;

    UniformRow operator[](int64_t i) const { return {indices + indptr[i], row_values[i], indptr[i + 1] - indptr[i]}; }
    int64_t nnz() const { return indptr[n_rows]; }
    int64_t nnz(int64_t i) const { return indptr[i + 1] - indptr[i]; }
    void prefetch_row_pointer(int64_t i) const {
        prefetch(indptr + i);
        prefetch(row_values + i);
    }
    void prefetch_row(int64_t i) const {
        const int64_t begin = indptr[i], size = indptr[i + 1] - begin;
        prefetch_block(indices + begin, size * int64_t(sizeof(int32_t)));
    }
};

// Dense rows, each contiguous, `stride` values apart.
template <class T>
struct DenseRows {
    using Value = T;
    int64_t n_rows, n_cols;
    const T* data;
    int64_t stride;

    DenseRow<T> operator[](int64_t i) const { return {data + i * stride, n_cols, 0}; }
    int64_t nnz() const { return n_rows * n_cols; }
    int64_t nnz(int64_t) const { return n_cols; }
    void prefetch_row_pointer(int64_t) const {}
    void prefetch_row(int64_t i) const { prefetch_block(data + i * stride, n_cols * int64_t(sizeof(T))); }
};

}  // namespace widemargin
