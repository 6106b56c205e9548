// Stochastic gradient steps over sequences: Bottou (2007) for chain CRFs, Ratliff, Bagnell, Zinkevich (2007) for
// structured SVMs.
//
//     lambda/2 |w|^2 + mean of s_i loss_i(w),     w <- w - eta_t (lambda w + s_i (g_i - f(y_i))),   eta_t = 1 / (lambda
//     t)
//
// where g_i are the expected features of the sequence, or those of the labeling that scores most with its cost. With
// w = a / (lambda t) a step is an addition alone: a += s_i (f(y_i) - g_i).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/chains/frank_wolfe.hpp"
#include "core/chains/labelings.hpp"
#include "core/chains/layout.hpp"
#include "core/chains/pair_table.hpp"
#include "core/chains/posterior.hpp"

namespace widemargin {

// Where a sequence pulls to, with its scores at hand: shares of labels and of neighbouring labels.
struct PullTo {
    double *shares, *edge_sums;  // length x labels; pairs
};

// The expectations of the model.
class ExpectedPull {
  public:
    explicit ExpectedPull(const Chains& chains) : k_(chains.n_labels()), posterior_(k_, chains.longest()) {}

    void find(int64_t, int64_t begin, int64_t n, const double* z, const double* edge, PullTo out) {
        posterior_.set_edges(edge);
        posterior_.run(z, n, begin);
        std::copy_n(posterior_.mu(), n * k_, out.shares);
        posterior_.add_edges(1.0, out.edge_sums);
    }

  private:
    int64_t k_;
    Posterior posterior_;
};

// The labeling that scores most with its cost; how often each was met is counted.
class ViolatingPull {
  public:
    ViolatingPull(const Chains& chains, Costs costs, KnownLabelings& met)
        : k_(chains.n_labels()),
          costs_(costs),
          met_(met),
          viterbi_(k_, chains.longest()),
          labels_(size_t(chains.longest())) {}

    void find(int64_t i, int64_t begin, int64_t n, const double* z, const double* edge, PullTo out) {
        viterbi_.run(z, edge, n, {costs_.cost, costs_.truth + begin}, nullptr, labels_.data());
        for (int64_t t = 0; t < n; ++t) {
            out.shares[t * k_ + labels_[size_t(t)]] = 1;
            if (t > 0) out.edge_sums[labels_[size_t(t) - 1] * k_ + labels_[size_t(t)]] += 1;
        }
        count(met_.of(i), n);
    }

  private:
    void count(std::vector<KnownLabeling>& met, int64_t n) const {
        const auto same = [&](const auto& y) { return std::equal(y.labels.begin(), y.labels.end(), labels_.begin()); };
        const auto found = std::find_if(met.begin(), met.end(), same);
        if (found != met.end())
            found->share += 1;
        else
            met.push_back({std::vector<int32_t>(labels_.begin(), labels_.begin() + n), 1.0, 0.0});
    }

    int64_t k_;
    Costs costs_;
    KnownLabelings& met_;
    Viterbi viterbi_;
    std::vector<int32_t> labels_;
};

template <class Rows, class Table, class Pull>
class StochasticPass {
  public:
    StochasticPass(const Rows& X, const Chains& chains, const double* s, const int32_t* truth, Table a, EdgeTable edges,
                   Pull& pull)
        : X_(X),
          chains_(chains),
          s_(s),
          truth_(truth),
          a_(a),
          edges_(edges),
          pull_(pull),
          k_(chains.n_labels()),
          z_(size_t(k_ * chains.longest())),
          shares_(z_.size()),
          edge_(size_t(chains.n_pairs())),
          edge_sums_(edge_.size()),
          own_edges_(edge_.size()) {}

    // Visits sequences from order[first] on, `steps` having been made (t0 among them); returns where it stopped.
    int64_t run(const int64_t* order, int64_t first, int64_t last, double lambda, double& steps, double seconds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        for (int64_t at = first; at < last; ++at) {
            if (at > first && at % 16 == 0 && std::chrono::steady_clock::now() >= end) return at;
            if (s_[order[at]] == 0) continue;
            visit(order[at], 1 / (lambda * steps));
            steps += 1;
        }
        return last;
    }

  private:
    void visit(int64_t i, double scale) {
        const int64_t begin = chains_.begin(i), n = chains_.length(i);
        for (int64_t t = 0; t < n; ++t) a_.scores(X_[begin + t], z_.data() + t * k_);
        for (int64_t c = 0; c < n * k_; ++c) z_[size_t(c)] *= scale;
        for (size_t p = 0; p < edge_.size(); ++p) edge_[p] = scale * edges_.w[p];
        std::fill_n(shares_.begin(), n * k_, 0.0);
        std::fill(edge_sums_.begin(), edge_sums_.end(), 0.0);
        pull_.find(i, begin, n, z_.data(), edge_.data(), {shares_.data(), edge_sums_.data()});
        add(i, begin, n);
    }

    // a += s_i (f(y_i) - g_i)
    void add(int64_t i, int64_t begin, int64_t n) {
        const int32_t* y = truth_ + begin;
        std::fill(own_edges_.begin(), own_edges_.end(), 0.0);
        for (int64_t t = 0; t < n; ++t) {
            double* u = shares_.data() + t * k_;
            for (int64_t k = 0; k < k_; ++k) u[k] *= -s_[i];
            u[y[t]] += s_[i];
            if (std::any_of(u, u + k_, [](double share) { return share != 0; })) a_.add(X_[begin + t], u);
            if (t > 0) own_edges_[size_t(y[t - 1] * k_ + y[t])] += 1;
        }
        edges_.add(s_[i], own_edges_.data(), edge_sums_.data());
    }

    const Rows& X_;
    const Chains& chains_;
    const double* s_;
    const int32_t* truth_;
    Table a_;
    EdgeTable edges_;
    Pull& pull_;
    int64_t k_;
    std::vector<double> z_, shares_, edge_, edge_sums_, own_edges_;
};

}  // namespace widemargin
