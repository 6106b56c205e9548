// Rows to LIBSVM text, each number in the fewest digits that read back as the same bits.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <span>
#include <sstream>
#include <string>

#include "core/text/svmlight_number.hpp"

namespace widemargin::svmlight {

// Rows as arrays of which every length and offset has been checked.
template <class T>
struct RowsToWrite {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const T> values;
    std::span<const double> labels;
    std::span<const std::int64_t> labels_indptr;
    std::span<const std::int64_t> queries;  // empty: none
    std::int64_t base = 1;
};

template <class T>
void append_number(std::string& text, T value) {
#if defined(__cpp_lib_to_chars)
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
#else
    for (int precision = std::numeric_limits<T>::digits10; precision <= std::numeric_limits<T>::max_digits10;
         ++precision) {
        std::ostringstream stream;
        stream.imbue(std::locale::classic());
        stream.precision(precision);
        stream << value;
        const std::string digits = stream.str();
        T back = 0;
        read_number(digits.data(), digits.data() + digits.size(), back);
        if (back != value && precision < std::numeric_limits<T>::max_digits10) continue;
        text += digits;
        return;
    }
#endif
}

inline void append_integer(std::string& text, std::int64_t value) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

template <class T>
void append_row(std::string& text, const RowsToWrite<T>& rows, std::size_t row) {
    const std::size_t start = text.size();
    for (auto k = rows.labels_indptr[row]; k < rows.labels_indptr[row + 1]; ++k) {
        if (k > rows.labels_indptr[row]) text += ',';
        append_number(text, rows.labels[static_cast<std::size_t>(k)]);
    }
    const auto separate = [&] {
        if (text.size() > start) text += ' ';
    };
    if (!rows.queries.empty()) {
        separate();
        text += "qid:";
        append_integer(text, rows.queries[row]);
    }
    for (auto k = rows.indptr[row]; k < rows.indptr[row + 1]; ++k) {
        separate();
        append_integer(text, rows.indices[static_cast<std::size_t>(k)] + rows.base);
        text += ':';
        append_number(text, rows.values[static_cast<std::size_t>(k)]);
    }
    if (text.size() == start) {  // an empty line would not be read as a row: one explicit zero says the same
        append_integer(text, rows.base);
        text += ":0";
    }
    text += '\n';
}

template <class T>
std::string format_rows(const RowsToWrite<T>& rows, std::size_t first, std::size_t last) {
    std::string text;
    text.reserve(static_cast<std::size_t>(rows.indptr[last] - rows.indptr[first]) * 16 + (last - first) * 8);
    for (std::size_t row = first; row < last; ++row) append_row(text, rows, row);
    return text;
}

}  // namespace widemargin::svmlight
