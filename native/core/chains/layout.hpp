// Sequences of tokens laid end to end: sequence i holds the tokens offsets[i] .. offsets[i + 1], none of them empty.
// Threads share sequences in pieces that depend on the sequences alone, so that no sum depends on their number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/system/parallel.hpp"

namespace widemargin {

class Chains {
  public:
    Chains(std::vector<int64_t> offsets, int64_t n_labels) : offsets_(std::move(offsets)), n_labels_(n_labels) {
        if (n_labels < 1 || n_labels > most_labels)
            throw std::invalid_argument("n_labels is " + std::to_string(n_labels) + ", outside 1 .. 32767");
        if (offsets_.size() < 2 || offsets_.front() != 0)
            throw std::invalid_argument("offsets must begin with 0 and name one sequence at least");
        for (size_t i = 1; i < offsets_.size(); ++i) {
            if (offsets_[i] <= offsets_[i - 1])
                throw std::invalid_argument("sequence " + std::to_string(i - 1) + " is empty or ends before it begins");
            longest_ = std::max(longest_, offsets_[i] - offsets_[i - 1]);
        }
    }

    int64_t n_labels() const { return n_labels_; }
    int64_t n_sequences() const { return int64_t(offsets_.size()) - 1; }
    int64_t n_tokens() const { return offsets_.back(); }
    int64_t longest() const { return longest_; }
    int64_t begin(int64_t i) const { return offsets_[size_t(i)]; }
    int64_t length(int64_t i) const { return offsets_[size_t(i) + 1] - offsets_[size_t(i)]; }
    int64_t n_pairs() const { return n_labels_ * n_labels_; }

    int64_t n_pieces() const { return std::min<int64_t>(most_pieces, n_sequences()); }

    // Calls work(piece, first, last) for every piece of the sequences.
    template <class Work>
    void over_pieces(int n_threads, Work&& work) const {
        const int64_t pieces = n_pieces(), all = n_sequences();
        parallel_for(pieces, n_threads,
                     [&](int64_t piece) { work(piece, piece * all / pieces, (piece + 1) * all / pieces); });
    }

  private:
    static constexpr int64_t most_labels = 32767, most_pieces = 64;

    std::vector<int64_t> offsets_;
    int64_t n_labels_, longest_ = 0;
};

// Scores of pairs of neighbouring labels, edge[j][k] for j before k: one table for all sequences, or one for each.
struct EdgeScores {
    const double* table;
    int64_t step;  // from one sequence to the next

    const double* of(int64_t sequence) const { return table + sequence * step; }
    bool shared() const { return step == 0; }
};

}  // namespace widemargin
