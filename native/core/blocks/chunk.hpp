// The rows of a chunk: lengths of rows, distances between columns, values.
//
//     lengths of rows      whole numbers
//     distances            whole numbers; of the columns 3, 4, 9 in a row: 3, 0, 4. Dense rows: all zero
//     values               one per row where all entries of each row are alike (kind 1), else one per entry (kind 0)
//
// Whoever decodes says how many rows, entries and columns there are, which the file's index knows: nothing is allocated
// by what the bytes claim.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/blocks/numbers.hpp"
#include "core/blocks/pool.hpp"
#include "core/blocks/whole_numbers.hpp"
#include "core/rows/check.hpp"

namespace widemargin::blocks {

// In which form the rows of a file are handed out: the same for all of its chunks.
enum class Form { sparse, uniform, dense };

inline constexpr int64_t most_entries = int64_t(1) << 27;

template <class T>
struct SparseView {
    std::span<const int64_t> indptr;
    std::span<const int32_t> indices;
    std::span<const T> values;
};

// The value of each row, if all of its entries have the same bits; an empty row has none and counts as zero.
template <class T>
std::optional<std::vector<T>> row_values(const SparseView<T>& rows) {
    std::vector<T> found(rows.indptr.size() - 1, T(0));
    for (size_t i = 0; i < found.size(); ++i) {
        const auto begin = rows.values.begin() + rows.indptr[i], end = rows.values.begin() + rows.indptr[i + 1];
        if (begin == end) continue;
        found[i] = *begin;
        const auto bits = std::bit_cast<Bits<T>>(*begin);
        if (std::any_of(begin, end, [&](T x) { return std::bit_cast<Bits<T>>(x) != bits; })) return std::nullopt;
    }
    return found;
}

template <class T>
std::vector<uint32_t> distances(const SparseView<T>& rows) {
    std::vector<uint32_t> found(rows.indices.size());
    for (size_t i = 0; i + 1 < rows.indptr.size(); ++i) {
        int32_t previous = -1;
        for (int64_t k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k) {
            if (rows.indices[size_t(k)] <= previous) damaged("the columns of a row do not ascend");
            found[size_t(k)] = uint32_t(rows.indices[size_t(k)] - previous - 1);
            previous = rows.indices[size_t(k)];
        }
    }
    return found;
}

// Appends the rows; returns whether each row's values are all alike. indptr must have been checked.
template <class T>
bool encode_rows(const SparseView<T>& rows, Bytes& out) {
    std::vector<uint32_t> lengths(rows.indptr.size() - 1);
    for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = uint32_t(rows.indptr[i + 1] - rows.indptr[i]);
    encode_whole_numbers(lengths, out);
    encode_whole_numbers(distances(rows), out);
    const auto alike = row_values(rows);
    put(out, uint8_t(alike.has_value()));
    encode_numbers<T>(alike ? std::span<const T>(*alike) : rows.values, out);
    return alike.has_value();
}

struct Counts {
    int64_t rows, entries, columns;
};

template <class T>
struct DecodedRows {
    std::shared_ptr<std::byte> indptr_memory, indices_memory, values_memory;
    int64_t* indptr = nullptr;
    int32_t* indices = nullptr;
    T* values = nullptr;           // one per entry; of uniform rows none
    double* row_values = nullptr;  // of uniform rows
};

template <class T>
class RowsDecoder {
  public:
    RowsDecoder(View bytes, const Counts& counts, Form form, Pool& pool, Scratch& scratch)
        : in_(bytes), counts_(counts), form_(form), pool_(pool), scratch_(scratch) {
        if (counts.rows < 0 || counts.entries < 0 || counts.entries > most_entries || counts.rows > most_entries)
            damaged("it has more rows or entries than a chunk can have");
    }

    DecodedRows<T> decode() {
        lengths();
        columns();
        values();
        in_.expect_end();
        return std::move(found_);
    }

  private:
    template <class U>
    U* room(std::shared_ptr<std::byte>& memory, int64_t count) {
        memory = pool_.get(size_t(count) * sizeof(U));
        return reinterpret_cast<U*>(memory.get());
    }

    void lengths() {
        const auto rows = size_t(counts_.rows);
        WholeNumbersReader numbers(in_, rows, scratch_.numbers);
        int64_t* indptr = found_.indptr = room<int64_t>(found_.indptr_memory, counts_.rows + 1);
        indptr[0] = 0;
        uint32_t portion[portion_size];
        for (size_t done = 0; done < rows; done += portion_size) {
            const size_t count = std::min(portion_size, rows - done);
            numbers.next(portion, count);
            for (size_t k = 0; k < count; ++k) indptr[done + k + 1] = indptr[done + k] + int64_t(portion[k]);
        }
        if (indptr[rows] != counts_.entries) damaged("the lengths of its rows do not add up to its entries");
        if (form_ == Form::dense && (counts_.entries != counts_.rows * counts_.columns ||
                                     (rows > 0 && numbers.all() != uint32_t(counts_.columns))))
            damaged("its rows are not dense");
    }

    void columns() {
        WholeNumbersReader numbers(in_, size_t(counts_.entries), scratch_.numbers);
        if (form_ == Form::dense) {
            if (counts_.entries > 0 && numbers.all() != 0u) damaged("its rows are not dense");
            return;
        }
        int32_t* indices = found_.indices = room<int32_t>(found_.indices_memory, counts_.entries);
        int64_t row = 0, previous = -1;
        uint32_t portion[portion_size];
        for (int64_t done = 0; done < counts_.entries; done += int64_t(portion_size)) {
            const int64_t end = std::min(done + int64_t(portion_size), counts_.entries);
            numbers.next(portion, size_t(end - done));
            for (int64_t k = done; k < end;) {
                const int64_t stop = std::min(end, found_.indptr[row + 1]);
                for (; k < stop; ++k) {
                    previous += 1 + int64_t(portion[k - done]);
                    indices[k] = int32_t(previous);
                }
                if (k < found_.indptr[row + 1]) continue;
                // Columns ascend, so the last one tells of all.
                if (previous >= counts_.columns) damaged("a column lies outside the file's columns");
                previous = -1, ++row;
            }
        }
    }

    void values() {
        const auto alike = in_.get<uint8_t>();
        if (alike > 1) damaged("its values are of an unknown kind");
        if (form_ == Form::uniform && !alike) damaged("the values of a row differ in a file of rows that are alike");
        if (!alike) {
            found_.values = room<T>(found_.values_memory, counts_.entries);
            decode_numbers(in_, found_.values, size_t(counts_.entries), scratch_);
            return refuse_unfit(found_.values, counts_.entries);
        }
        std::vector<T> per_row(static_cast<size_t>(counts_.rows));
        decode_numbers(in_, per_row.data(), per_row.size(), scratch_);
        refuse_unfit(per_row.data(), counts_.rows);
        if (form_ == Form::uniform) {
            found_.row_values = room<double>(found_.values_memory, counts_.rows);
            std::copy(per_row.begin(), per_row.end(), found_.row_values);
            return;
        }
        found_.values = room<T>(found_.values_memory, counts_.entries);
        for (size_t i = 0; i < per_row.size(); ++i)
            std::fill(found_.values + found_.indptr[i], found_.values + found_.indptr[i + 1], per_row[i]);
    }

    static void refuse_unfit(const T* values, int64_t count) {
        T zero_if_fit = 0;
#pragma omp simd reduction(+ : zero_if_fit)
        for (int64_t k = 0; k < count; ++k) zero_if_fit += values[k] * to_the_brink<T> * T(0);
        if (zero_if_fit != 0) damaged("a value is not finite, or too large");
    }

    static constexpr size_t portion_size = 4096;

    Reader in_;
    Counts counts_;
    Form form_;
    Pool& pool_;
    Scratch& scratch_;
    DecodedRows<T> found_;
};

}  // namespace widemargin::blocks
