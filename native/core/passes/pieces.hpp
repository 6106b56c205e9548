// Rows in a fixed number of pieces, each with a private vector to add into: how one value per column is summed on
// several threads where columns are few. The pieces depend on the data alone and their vectors are added in order, on
// one thread as on many, so the number of threads does not change a bit of the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/system/parallel.hpp"

namespace widemargin {

// Sums over rows are taken block by block; pieces consist of whole blocks.
inline constexpr int64_t rows_per_block = 1024;

inline int64_t count_blocks(int64_t n_rows) {
    return (n_rows + rows_per_block - 1) / rows_per_block;
}

// A private vector is set to zero and added up once: that must be little beside the work of its rows.
inline constexpr int64_t work_per_slot = 8;
inline constexpr int64_t most_pieces = 16;
// Fewer pieces than this would leave threads idle.
inline constexpr int64_t least_pieces = 4;

class RowPieces {
  public:
    // `work` is the number of additions to be made into vectors of `width` elements.
    RowPieces(int64_t n_rows, int64_t work, int64_t width) : n_rows_(n_rows) {
        const int64_t worth_it = work / (work_per_slot * std::max<int64_t>(1, width));
        const int64_t pieces = std::min({most_pieces, worth_it, count_blocks(n_rows)});
        if (pieces < least_pieces) return;
        blocks_ = (count_blocks(n_rows) + pieces - 1) / pieces;
        n_pieces_ = (count_blocks(n_rows) + blocks_ - 1) / blocks_;
    }

    bool single() const { return n_pieces_ == 1; }

    // Calls body(first, last, sum) for every piece, and adds what it left in `sum` to `out`.
    template <class Body>
    void add_up(int64_t width, double* out, int n_threads, Body&& body) const {
        if (single()) return void(body(int64_t(0), n_rows_, out));
        if (n_threads <= 1) {
            std::vector<double> sum(static_cast<size_t>(width));
            for (int64_t piece = 0; piece < n_pieces_; ++piece) {
                std::fill(sum.begin(), sum.end(), 0.0);
                call(body, piece, sum.data());
                for (int64_t j = 0; j < width; ++j) out[j] += sum[size_t(j)];
            }
            return;
        }
        std::vector<double> sums(size_t(n_pieces_ * width));
        parallel_for(n_pieces_, n_threads, [&](int64_t piece) { call(body, piece, sums.data() + piece * width); });
        parallel_for((width + slice - 1) / slice, n_threads, [&](int64_t part) {
            const int64_t last = std::min((part + 1) * slice, width);
            for (int64_t piece = 0; piece < n_pieces_; ++piece)
                for (int64_t j = part * slice; j < last; ++j) out[j] += sums[size_t(piece * width + j)];
        });
    }

  private:
    // Elements of the result that one thread adds up at a time.
    static constexpr int64_t slice = 32768;

    template <class Body>
    void call(Body&& body, int64_t piece, double* sum) const {
        const int64_t rows = blocks_ * rows_per_block;
        body(piece * rows, std::min((piece + 1) * rows, n_rows_), sum);
    }

    int64_t n_rows_;
    int64_t blocks_ = 0;
    int64_t n_pieces_ = 1;
};

}  // namespace widemargin
