// Stochastic gradients over sequences, one at a time in a given order: of the CRF's likelihood (Bottou's schedule), or
// of the structured hinge (Ratliff, Bagnell, Zinkevich 2007).
//
//     w <- (1 - eta) w + eta S C_i (f(y_i) - E f)     eta = 1 / (t0 + t),  S sequences
//
// E f is the model's expectation, or the features of the labeling that scores most with its cost. The shrinking of w is
// kept as one factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/chains/labelings.hpp"
#include "core/chains/layout.hpp"
#include "core/chains/pair_table.hpp"
#include "core/chains/posterior.hpp"

namespace widemargin {

struct StochasticSteps {
    double t0;
    double done;   // steps before these
    double scale;  // w = scale * table
};

template <class Rows, class Table>
class ChainSgd {
  public:
    // Without a cost the steps are those of the likelihood.
    ChainSgd(const Rows& X, const Chains& chains, const double* C, Costs costs, Table table, EdgeTable edges)
        : X_(X),
          chains_(chains),
          C_(C),
          costs_(costs),
          table_(table),
          edges_(edges),
          k_(chains.n_labels()),
          posterior_(k_, chains.longest()),
          viterbi_(k_, chains.longest()),
          z_(size_t(k_ * chains.longest())),
          share_(z_.size()),
          edge_(size_t(chains.n_pairs())),
          expected_(edge_.size()),
          observed_(edge_.size()),
          labels_(size_t(chains.longest())) {}

    void run(const int64_t* order, int64_t first, int64_t last, StochasticSteps& steps) {
        for (int64_t at = first; at < last; ++at) step(order[at], steps);
    }

  private:
    void step(int64_t i, StochasticSteps& steps) {
        const int64_t begin = chains_.begin(i), n = chains_.length(i);
        for (int64_t t = 0; t < n; ++t) table_.scores(X_[begin + t], z_.data() + t * k_);
        for (int64_t a = 0; a < n * k_; ++a) z_[size_t(a)] *= steps.scale;
        for (size_t p = 0; p < edge_.size(); ++p) edge_[p] = steps.scale * edges_.w[p];
        std::fill(expected_.begin(), expected_.end(), 0.0), std::fill(observed_.begin(), observed_.end(), 0.0);
        if (costs_.cost == nullptr)
            expect(begin, n);
        else
            find_worst(begin, n);
        const double eta = 1 / (steps.t0 + steps.done);
        steps.done += 1, steps.scale *= 1 - eta;
        const double gain = eta * double(chains_.n_sequences()) * C_[i] / steps.scale;
        for (int64_t t = 0; t < n; ++t) {
            double* u = share_.data() + t * k_;
            for (int64_t k = 0; k < k_; ++k) u[k] *= -gain;
            u[costs_.truth[begin + t]] += gain;
            table_.add(X_[begin + t], u);
            if (t > 0) observed_[size_t(costs_.truth[begin + t - 1] * k_ + costs_.truth[begin + t])] += 1;
        }
        edges_.add(gain, observed_.data(), expected_.data());
    }

    void expect(int64_t begin, int64_t n) {
        posterior_.set_edges(edge_.data());
        posterior_.run(z_.data(), n, begin);
        std::copy_n(posterior_.mu(), n * k_, share_.begin());
        posterior_.add_edges(1.0, expected_.data());
    }

    void find_worst(int64_t begin, int64_t n) {
        viterbi_.run(z_.data(), edge_.data(), n, {costs_.cost, costs_.truth + begin}, nullptr, labels_.data());
        std::fill_n(share_.begin(), n * k_, 0.0);
        for (int64_t t = 0; t < n; ++t) {
            share_[size_t(t * k_ + labels_[size_t(t)])] = 1;
            if (t > 0) expected_[size_t(labels_[size_t(t) - 1] * k_ + labels_[size_t(t)])] += 1;
        }
    }

    const Rows& X_;
    const Chains& chains_;
    const double* C_;
    Costs costs_;
    Table table_;
    EdgeTable edges_;
    int64_t k_;
    Posterior posterior_;
    Viterbi viterbi_;
    std::vector<double> z_, share_, edge_, expected_, observed_;
    std::vector<int32_t> labels_;
};

}  // namespace widemargin
