// Block-coordinate Frank-Wolfe for structured SVMs: Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013), with the
// labelings that were met kept for each sequence, and pairwise steps between them.
//
//     max over alpha    -1/2 |w|^2 + sum_i C_i sum_y alpha_i(y) cost_i(y)       w = sum_i C_i (f(y_i) - E_alpha_i f)
//
// A visit with Viterbi's algorithm finds the labeling that scores most with its cost; a visit without looks among those
// that are known, which costs little. The step from labeling a to b is exact along its line: the products of the
// sequence's tokens tell |f(b) - f(a)|^2 and how all scores of the sequence change, so several steps follow at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/chains/labelings.hpp"
#include "core/chains/layout.hpp"
#include "core/chains/pair_table.hpp"

namespace widemargin {

struct KnownLabeling {
    std::vector<int32_t> labels;
    double share;  // alpha
    double cost;
    int idle = 0;  // visits since it was last of use
};

struct FrankWolfeLook {
    int64_t next = 0;  // of the order, where the next call goes on
    double gained = 0, gap = 0;
};

// What a pass is told beside the data.
struct FrankWolfePlan {
    bool viterbi;           // look for new labelings
    int64_t most_steps;     // per visit
    const int64_t* starts;  // of the sequences' products in `gram`
    const float* gram;      // null: steps are as long as `sqnorms` allows
    const double* sqnorms;  // |x_t|^2 of every token
    bool follows;           // whether the products tell how scores change; else there is one step per visit
};

// The labelings that were met, for all sequences.
class KnownLabelings {
  public:
    KnownLabelings(const Chains& chains, const int32_t* truth) : known_(size_t(chains.n_sequences())) {
        for (int64_t i = 0; i < chains.n_sequences(); ++i) {
            const int32_t* first = truth + chains.begin(i);
            known_[size_t(i)] = {{std::vector<int32_t>(first, first + chains.length(i)), 1.0, 0.0}};
        }
    }

    std::vector<KnownLabeling>& of(int64_t i) { return known_[size_t(i)]; }
    const std::vector<KnownLabeling>& of(int64_t i) const { return known_[size_t(i)]; }

  private:
    std::vector<std::vector<KnownLabeling>> known_;
};

template <class Rows, class Table>
class FrankWolfePass {
  public:
    static constexpr int most_idle = 20;

    FrankWolfePass(const Rows& X, const Chains& chains, const double* C, Costs costs, Table table, EdgeTable edges,
                   KnownLabelings& known, FrankWolfePlan plan)
        : X_(X),
          chains_(chains),
          C_(C),
          costs_(costs),
          table_(table),
          edges_(edges),
          known_(known),
          plan_(plan),
          k_(chains.n_labels()),
          viterbi_(k_, chains.longest()),
          z_(size_t(k_ * chains.longest())),
          moved_(z_.size()),
          counts_(size_t(chains.n_pairs())),
          labels_(size_t(chains.longest())) {}

    FrankWolfeLook run(const int64_t* order, int64_t first, int64_t last, double seconds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        FrankWolfeLook look;
        for (look.next = first; look.next < last; ++look.next) {
            if (look.next > first && look.next % 16 == 0 && std::chrono::steady_clock::now() >= end) break;
            visit(order[look.next], look);
        }
        return look;
    }

  private:
    void visit(int64_t i, FrankWolfeLook& look) {
        auto& known = known_.of(i);
        if (C_[i] == 0 || (!plan_.viterbi && known.size() < 2)) return;
        begin_ = chains_.begin(i), n_ = chains_.length(i);
        for (int64_t t = 0; t < n_; ++t) table_.scores(X_[begin_ + t], z_.data() + t * k_);
        if (plan_.viterbi) look.gap += C_[i] * find(known);
        std::fill_n(moved_.begin(), n_ * k_, 0.0);
        bool any = false;
        for (int64_t step = 0; step < plan_.most_steps; ++step) {
            const double gained = pairwise(i, known);
            if (gained <= 0) break;
            look.gained += gained, any = true;
        }
        if (any) apply();
        if (plan_.viterbi) forget(known);
    }

    double score(const KnownLabeling& y) const {
        double sum = y.cost;
        for (int64_t t = 0; t < n_; ++t) {
            sum += z_[size_t(t * k_ + y.labels[size_t(t)])];
            if (t > 0) sum += edges_.w[y.labels[size_t(t) - 1] * k_ + y.labels[size_t(t)]];
        }
        return sum;
    }

    // Viterbi's labeling joins those that are known; returns by how much it scores more than their mixture.
    double find(std::vector<KnownLabeling>& known) {
        const Costs own{costs_.cost, costs_.truth + begin_};
        const double best = viterbi_.run(z_.data(), edges_.w, n_, own, nullptr, labels_.data());
        double mixture = 0;
        for (const auto& y : known)
            if (y.share > 0) mixture += y.share * score(y);
        const auto same = [&](const auto& y) { return std::equal(y.labels.begin(), y.labels.end(), labels_.begin()); };
        if (std::none_of(known.begin(), known.end(), same)) {
            double cost = 0;
            for (int64_t t = 0; t < n_; ++t) cost += own.of(t, labels_[size_t(t)], k_);
            known.push_back({std::vector<int32_t>(labels_.begin(), labels_.begin() + n_), 0.0, cost});
        }
        return std::max(0.0, best - mixture);
    }

    // A step from the worst labeling in use to the best known; returns what the dual gains.
    double pairwise(int64_t i, std::vector<KnownLabeling>& known) {
        KnownLabeling *worst = nullptr, *best = nullptr;
        double least = 0, most = 0;
        for (auto& y : known) {
            const double s = score(y);
            if (best == nullptr || s > most) best = &y, most = s;
            if (y.share > 0 && (worst == nullptr || s < least)) worst = &y, least = s;
        }
        const double rise = most - least;
        if (best == worst || rise <= 1e-13 * (1 + std::abs(most))) return 0;
        best->idle = 0;
        const double bend = C_[i] * squared_distance(i, best->labels, worst->labels);
        const double step = bend > 0 ? std::min(worst->share, rise / bend) : worst->share;
        worst->share -= step, best->share += step;
        if (worst->share < 1e-14) best->share += worst->share, worst->share = 0;
        follow(i, best->labels, worst->labels, C_[i] * step);
        return C_[i] * step * (rise - 0.5 * step * bend);
    }

    // |f(b) - f(a)|^2; without products of tokens no less than it.
    double squared_distance(int64_t i, const std::vector<int32_t>& b, const std::vector<int32_t>& a) {
        differing_.clear();
        double sum = 0, lengths = 0;
        for (int64_t t = 0; t < n_; ++t)
            if (a[size_t(t)] != b[size_t(t)]) differing_.push_back(t);
        for (const int64_t s : differing_) {
            lengths += std::sqrt(plan_.sqnorms[begin_ + s]);
            if (plan_.gram == nullptr) continue;
            const float* G = plan_.gram + plan_.starts[i] + s * n_;
            for (const int64_t t : differing_) {
                const int same = (b[size_t(s)] == b[size_t(t)]) + (a[size_t(s)] == a[size_t(t)]);
                const int crossed = (b[size_t(s)] == a[size_t(t)]) + (a[size_t(s)] == b[size_t(t)]);
                sum += double(G[t]) * (same - crossed);
            }
        }
        return (plan_.gram == nullptr ? 2 * lengths * lengths : std::max(0.0, sum)) + squared_counts(b, a);
    }

    // |pairs of b - pairs of a|^2, of those pairs that are used; leaves the difference in counts_.
    double squared_counts(const std::vector<int32_t>& b, const std::vector<int32_t>& a) {
        double sum = 0;
        touched_.clear();
        for (int64_t t = 1; t < n_; ++t) {
            const int64_t to = b[size_t(t) - 1] * k_ + b[size_t(t)], from = a[size_t(t) - 1] * k_ + a[size_t(t)];
            if (to == from) continue;
            counts_[size_t(to)] += 1, counts_[size_t(from)] -= 1;
            touched_.push_back(to), touched_.push_back(from);
        }
        std::sort(touched_.begin(), touched_.end());
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        for (const int64_t p : touched_) {
            counts_[size_t(p)] *= edges_.used[p];
            sum += counts_[size_t(p)] * counts_[size_t(p)];
        }
        return sum;
    }

    // The scores of the sequence and the edges' weights follow a step.
    void follow(int64_t i, const std::vector<int32_t>& b, const std::vector<int32_t>& a, double step) {
        for (const int64_t p : touched_) edges_.w[p] -= step * counts_[size_t(p)], counts_[size_t(p)] = 0;
        for (const int64_t t : differing_) {
            moved_[size_t(t * k_ + b[size_t(t)])] -= step;
            moved_[size_t(t * k_ + a[size_t(t)])] += step;
            if (!plan_.follows) continue;
            const float* G = plan_.gram + plan_.starts[i] + t * n_;
            double *to = z_.data() + b[size_t(t)], *from = z_.data() + a[size_t(t)];
            for (int64_t s = 0; s < n_; ++s) {
                const double change = step * double(G[s]);
                to[s * k_] -= change, from[s * k_] += change;
            }
        }
    }

    void apply() {
        for (int64_t t = 0; t < n_; ++t)
            for (int64_t k = 0; k < k_; ++k)
                if (const double u = moved_[size_t(t * k_ + k)]; u != 0) table_.add_to_label(X_[begin_ + t], k, u);
    }

    static void forget(std::vector<KnownLabeling>& known) {
        std::erase_if(known, [](KnownLabeling& y) { return y.share == 0 && ++y.idle > most_idle; });
    }

    const Rows& X_;
    const Chains& chains_;
    const double* C_;
    Costs costs_;
    Table table_;
    EdgeTable edges_;
    KnownLabelings& known_;
    FrankWolfePlan plan_;
    int64_t k_, begin_ = 0, n_ = 0;
    Viterbi viterbi_;
    std::vector<double> z_, moved_, counts_;
    std::vector<int32_t> labels_;
    std::vector<int64_t> differing_, touched_;
};

}  // namespace widemargin
