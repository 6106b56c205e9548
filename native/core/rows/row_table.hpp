// Rows of several matrices as one list, without a copy of their entries: what a block mixed from chunks is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"

namespace widemargin {

template <class T>
void prefetch_entries(const SparseRow<T>& row) {
    prefetch_block(row.index, row.size * int64_t(sizeof(int32_t)));
    prefetch_block(row.value, row.size * int64_t(sizeof(T)));
}
inline void prefetch_entries(const UniformRow& row) {
    prefetch_block(row.index, row.size * int64_t(sizeof(int32_t)));
}
template <class T>
void prefetch_entries(const DenseRow<T>& row) {
    prefetch_block(row.value, row.size * int64_t(sizeof(T)));
}

// The rows of matrices of the type `Rows`, one matrix after another.
template <class Rows>
class RowTable {
  public:
    using Row = decltype(std::declval<Rows>()[0]);
    using Value = typename Rows::Value;

    void add(const Rows& X) {
        rows_.reserve(rows_.size() + size_t(X.n_rows));
        for (int64_t i = 0; i < X.n_rows; ++i) rows_.push_back(X[i]);
    }

    size_t size() const { return rows_.size(); }
    const Row& operator[](size_t i) const { return rows_[i]; }
    void prefetch_row_pointer(size_t i) const { prefetch(&rows_[i]); }
    void prefetch_row(size_t i) const { prefetch_entries(rows_[i]); }

  private:
    std::vector<Row> rows_;
};

}  // namespace widemargin
