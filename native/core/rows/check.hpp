// The gate: nothing below it ever sees a malformed matrix. Each problem found is named with its place.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace widemargin {

[[noreturn]] inline void reject(const std::string& what) {
    throw std::invalid_argument(what);
}

// The names of the two directions, for messages: rows are compressed, or columns.
struct Axes {
    const char *major, *minor;
    bool transposed;
};
inline constexpr Axes by_rows{"row", "column", false}, by_columns{"column", "row", true};

// A double times this is infinite from about 1e50 on: squares of what is larger overflow when they are weighed and
// squared again.
template <class T>
inline constexpr T to_the_brink = sizeof(T) == 8 ? T(1.7976931348623157e258) : T(1);

inline void reject_value(double value, int64_t row, int64_t column) {
    const std::string place = "row " + std::to_string(row) + ", column " + std::to_string(column) + " holds ";
    if (std::isfinite(value)) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%g", value);
        reject(place + digits + ": no value may be larger than 1e50 in size; scale the features");
    }
    reject(place +
           (std::isnan(value) ? "nan"
            : value > 0       ? "inf"
                              : "-inf") +
           ": every value must be finite; remove or impute it");
}

inline void check_row_pointers(const int64_t* indptr, int64_t n_rows, int64_t n_entries, Axes axes) {
    if (indptr[0] != 0) reject("indptr[0] is " + std::to_string(indptr[0]) + ", it must be 0");
    for (int64_t i = 0; i < n_rows; ++i)
        if (indptr[i + 1] < indptr[i])
            reject("indptr decreases at " + std::string(axes.major) + " " + std::to_string(i) + ": " +
                   std::to_string(indptr[i]) + " then " + std::to_string(indptr[i + 1]));
    if (indptr[n_rows] > n_entries)
        reject("indptr ends at " + std::to_string(indptr[n_rows]) + " but only " + std::to_string(n_entries) +
               " entries are stored");
}

// What one look at sparse entries tells.
template <class T>
struct SparseFacts {
    bool canonical = true;              // strictly ascending columns in every row
    bool uniform = true;                // one value per row
    std::vector<double> uniform_value;  // that value, while `uniform` holds
};

template <class T>
SparseFacts<T> check_entries(const int64_t* indptr, const int32_t* indices, const T* values, int64_t n_rows,
                             int64_t n_cols, Axes axes) {
    SparseFacts<T> facts;
    facts.uniform_value.assign(size_t(n_rows), 0.0);
    for (int64_t i = 0; i < n_rows; ++i) {
        const int64_t begin = indptr[i], end = indptr[i + 1];
        if (begin == end) continue;
        // Branch-free over the row; the place is searched only when something was found.
        bool outside = false, descending = false, varying = false;
        T zero_if_fit = 0;
        int32_t previous = -1;
        const T first = values[begin];
        for (int64_t k = begin; k < end; ++k) {
            const int32_t j = indices[k];
            outside |= uint32_t(j) >= uint32_t(n_cols);
            descending |= j <= previous;
            previous = j;
            varying |= values[k] != first;
            zero_if_fit += values[k] * to_the_brink<T> * T(0);
        }
        if (outside)
            for (int64_t k = begin; k < end; ++k)
                if (indices[k] < 0 || indices[k] >= n_cols)
                    reject(std::string(axes.major) + " " + std::to_string(i) + " has " + axes.minor + " index " +
                           std::to_string(indices[k]) + ", outside 0 .. " + std::to_string(n_cols - 1));
        if (zero_if_fit != 0)
            for (int64_t k = begin; k < end; ++k)
                if (!std::isfinite(values[k] * to_the_brink<T>))
                    reject_value(double(values[k]), axes.transposed ? indices[k] : i, axes.transposed ? i : indices[k]);
        facts.canonical &= !descending;
        facts.uniform &= !varying;
        facts.uniform_value[size_t(i)] = double(first);
    }
    return facts;
}

template <class T>
void check_dense(const T* data, int64_t n_rows, int64_t n_cols, int64_t row_stride, int64_t col_stride) {
    for (int64_t i = 0; i < n_rows; ++i) {
        T zero_if_fit = 0;
        const T* row = data + i * row_stride;
        for (int64_t j = 0; j < n_cols; ++j) zero_if_fit += row[j * col_stride] * to_the_brink<T> * T(0);
        if (zero_if_fit != 0)
            for (int64_t j = 0; j < n_cols; ++j)
                if (!std::isfinite(row[j * col_stride] * to_the_brink<T>))
                    reject_value(double(row[j * col_stride]), i, j);
    }
}

}  // namespace widemargin
