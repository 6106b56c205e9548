// The best labelings of sequences: Viterbi's algorithm, with costs of wrong labels or labels that are known, and the n
// best ones. Of equal scores the label that comes first wins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/chains/layout.hpp"

namespace widemargin {

inline constexpr double impossible = -std::numeric_limits<double>::infinity();

// cost[y][k] of label k where y is right; no cost where `cost` is null.
struct Costs {
    const double* cost = nullptr;
    const int32_t* truth = nullptr;

    double of(int64_t token, int64_t label, int64_t n_labels) const {
        return cost == nullptr ? 0.0 : cost[truth[token] * n_labels + label];
    }
};

class Viterbi {
  public:
    Viterbi(int64_t n_labels, int64_t longest)
        : k_(n_labels), best_(size_t(2 * k_)), back_(size_t(k_ * longest)), at_(size_t(k_)) {}

    // The best labeling and its score; z, costs, known (-1: any label) and labels begin at the sequence's first token.
    double run(const double* z, const double* edge, int64_t length, Costs costs, const int32_t* known,
               int32_t* labels) {
        double *now = best_.data(), *next = now + k_;
        for (int64_t t = 0; t < length; ++t) {
            if (t > 0) step(now, edge, back_.data() + t * k_, next), std::swap(now, next);
            for (int64_t k = 0; k < k_; ++k) {
                const double score = z[t * k_ + k] + costs.of(t, k, k_);
                const bool may = known == nullptr || known[t] < 0 || known[t] == k;
                now[k] = may ? (t > 0 ? now[k] : 0.0) + score : impossible;
            }
        }
        const auto last = std::max_element(now, now + k_);
        labels[length - 1] = int32_t(last - now);
        for (int64_t t = length - 1; t > 0; --t) labels[t - 1] = back_[size_t(t * k_ + labels[t])];
        return *last;
    }

  private:
    // next[k] = max over j of now[j] + edge[j][k]
    void step(const double* now, const double* edge, int32_t* back, double* next) {
        for (int64_t k = 0; k < k_; ++k) next[k] = now[0] + edge[k], at_[size_t(k)] = 0;
        for (int64_t j = 1; j < k_; ++j) {
            const double from = now[j], *row = edge + j * k_;
            const auto label = double(j);
            for (int64_t k = 0; k < k_; ++k) {
                const double score = from + row[k];
                const bool better = score > next[k];
                next[k] = better ? score : next[k];
                at_[size_t(k)] = better ? label : at_[size_t(k)];
            }
        }
        for (int64_t k = 0; k < k_; ++k) back[k] = int32_t(at_[size_t(k)]);
    }

    int64_t k_;
    std::vector<double> best_;
    std::vector<int32_t> back_;
    std::vector<double> at_;  // the labels before, as wide as the scores so that both are chosen in one vector
};

inline void chain_viterbi(const Chains& chains, const double* z, const double* edge, Costs costs, const int32_t* known,
                          int32_t* labels, double* scores, int n_threads) {
    const int64_t k = chains.n_labels();
    chains.over_pieces(n_threads, [&](int64_t, int64_t first, int64_t last) {
        Viterbi viterbi(k, chains.longest());
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = chains.begin(i);
            const Costs own{costs.cost, costs.truth ? costs.truth + begin : nullptr};
            scores[i] = viterbi.run(z + begin * k, edge, chains.length(i), own, known ? known + begin : nullptr,
                                    labels + begin);
        }
    });
}

// The n best labelings of one sequence, best first: every label of every position keeps its n best beginnings.
class BestLabelings {
  public:
    explicit BestLabelings(int64_t n_labels, int64_t n) : k_(n_labels), n_(n) {}

    // Returns how many there are; labels holds n lines of `length`, scores n values.
    int64_t run(const double* z, const double* edge, int64_t length, int32_t* labels, double* scores) {
        ends_.assign(size_t(length * k_), {});
        for (int64_t k = 0; k < k_; ++k) ends_[size_t(k)] = {{z[k], 0, 0}};
        for (int64_t t = 1; t < length; ++t)
            for (int64_t k = 0; k < k_; ++k) extend(t, k, z[t * k_ + k], edge);
        std::vector<End> last;
        for (int64_t k = 0; k < k_; ++k)
            for (size_t r = 0; r < at(length - 1, k).size(); ++r)
                last.push_back({at(length - 1, k)[r].score, int32_t(k), int32_t(r)});
        keep_best(last);
        for (size_t r = 0; r < last.size(); ++r) {
            scores[r] = last[r].score;
            trace(last[r], length, labels + int64_t(r) * length);
        }
        return int64_t(last.size());
    }

  private:
    struct End {
        double score;
        int32_t label, rank;  // of the beginning that it extends
    };

    std::vector<End>& at(int64_t t, int64_t k) { return ends_[size_t(t * k_ + k)]; }

    void extend(int64_t t, int64_t k, double score, const double* edge) {
        auto& found = at(t, k);
        for (int64_t j = 0; j < k_; ++j) {
            const auto& before = at(t - 1, j);
            for (size_t r = 0; r < before.size(); ++r)
                found.push_back({before[r].score + edge[j * k_ + k] + score, int32_t(j), int32_t(r)});
        }
        keep_best(found);
    }

    void keep_best(std::vector<End>& ends) const {
        const auto n = std::min<size_t>(size_t(n_), ends.size());
        std::partial_sort(ends.begin(), ends.begin() + int64_t(n), ends.end(), [](const End& a, const End& b) {
            return a.score != b.score ? a.score > b.score : a.label != b.label ? a.label < b.label : a.rank < b.rank;
        });
        ends.resize(n);
    }

    void trace(End end, int64_t length, int32_t* labels) {
        for (int64_t t = length - 1; t >= 0; --t) {
            labels[t] = end.label;
            end = at(t, end.label)[size_t(end.rank)];
        }
    }

    int64_t k_, n_;
    std::vector<std::vector<End>> ends_;
};

// labels holds n lines for every sequence, one sequence after the other; found says how many of them are filled.
inline void chain_nbest(const Chains& chains, const double* z, const double* edge, int64_t n, int32_t* labels,
                        double* scores, int64_t* found, int n_threads) {
    const int64_t k = chains.n_labels();
    chains.over_pieces(n_threads, [&](int64_t, int64_t first, int64_t last) {
        BestLabelings best(k, n);
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = chains.begin(i);
            found[i] = best.run(z + begin * k, edge, chains.length(i), labels + n * begin, scores + n * i);
        }
    });
}

// The scores of given labelings.
inline void chain_scores_of(const Chains& chains, const double* z, const double* edge, const int32_t* labels,
                            double* scores) {
    const int64_t k = chains.n_labels();
    for (int64_t i = 0; i < chains.n_sequences(); ++i) {
        const int64_t begin = chains.begin(i), end = begin + chains.length(i);
        double sum = 0;
        for (int64_t t = begin; t < end; ++t) {
            sum += z[t * k + labels[t]];
            if (t > begin) sum += edge[labels[t - 1] * k + labels[t]];
        }
        scores[i] = sum;
    }
}

}  // namespace widemargin
