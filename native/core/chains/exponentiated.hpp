// Dual exponentiated gradient for chain CRFs: Collins, Globerson, Koo, Carreras, Bartlett (2008), section 4.
//
//     max over mu    -1/2 |w|^2 + sum_i C_i H(mu_i)        w = sum_i C_i (f(y_i) - E_mu_i f)
//
// Sequence i keeps scores theta_i whose distribution has the marginals mu_i. A step mixes them with those of the model,
// theta <- (1 - eta) theta + eta scores(w), and w follows. While w changes, so does |w|^2, entry by entry, which gives
// the exact change of the dual: a step under which it fell is undone and eta halved; otherwise eta grows.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/chains/layout.hpp"
#include "core/chains/pair_table.hpp"
#include "core/chains/posterior.hpp"

namespace widemargin {

struct ExponentiatedState {
    double *theta, *theta_edge;  // tokens x labels; sequences x pairs
    double *mu, *edge_sums;      // their marginals, likewise
    double *entropy, *eta;       // one per sequence
};

struct ExponentiatedLook {
    int64_t next = 0;   // of the order, where the next call goes on
    double gained = 0;  // by the dual
    double gap = 0;     // summed over the sequences that were asked
    int64_t asked = 0, rejected = 0;
};

template <class Rows, class Table>
class ExponentiatedPass {
  public:
    static constexpr double growth = 1.05;

    ExponentiatedPass(const Rows& X, const Chains& chains, const double* C, Table table, EdgeTable edges,
                      ExponentiatedState state)
        : X_(X),
          chains_(chains),
          C_(C),
          table_(table),
          edges_(edges),
          state_(state),
          k_(chains.n_labels()),
          pairs_(chains.n_pairs()),
          posterior_(k_, chains.longest()),
          z_(size_t(k_ * chains.longest())),
          theta_(z_.size()),
          change_(size_t(k_)),
          theta_edge_(size_t(pairs_)),
          edge_sum_(size_t(pairs_)) {}

    // One sequence of `ask_every` is asked for its share of the gap.
    ExponentiatedLook run(const int64_t* order, int64_t first, int64_t last, int64_t ask_every, double seconds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        ExponentiatedLook look;
        for (look.next = first; look.next < last; ++look.next) {
            if (look.next > first && look.next % 16 == 0 && std::chrono::steady_clock::now() >= end) break;
            visit(order[look.next], look.next % ask_every == 0, look);
        }
        return look;
    }

  private:
    void visit(int64_t i, bool ask, ExponentiatedLook& look) {
        const int64_t begin = chains_.begin(i), n = chains_.length(i);
        if (C_[i] == 0) return;
        for (int64_t t = 0; t < n; ++t) table_.scores(X_[begin + t], z_.data() + t * k_);
        if (ask) look.gap += gap(i), ++look.asked;
        const double eta = state_.eta[i], *theta = state_.theta + begin * k_;
        for (int64_t a = 0; a < n * k_; ++a) theta_[size_t(a)] = (1 - eta) * theta[a] + eta * z_[size_t(a)];
        mix_edges(i, eta);
        posterior_.set_edges(theta_edge_.data());
        posterior_.run(theta_.data(), n, begin);
        std::fill(edge_sum_.begin(), edge_sum_.end(), 0.0);
        posterior_.add_edges(1.0, edge_sum_.data());
        const double entropy = posterior_.entropy(edge_sum_.data());
        const double grown = move(i, 1.0);
        const double gained = C_[i] * (entropy - state_.entropy[i]) - 0.5 * grown;
        if (gained < 0 && eta > 1e-9) {
            move(i, -1.0);
            state_.eta[i] = 0.5 * eta;
            ++look.rejected;
            return;
        }
        look.gained += gained;
        keep(i, entropy);
        state_.eta[i] = std::min(1.0, growth * eta);
    }

    void mix_edges(int64_t i, double eta) {
        const double* old = state_.theta_edge + i * pairs_;
        for (int64_t p = 0; p < pairs_; ++p) theta_edge_[size_t(p)] = (1 - eta) * old[p] + eta * edges_.w[p];
    }

    // The share of the gap that the sequence has at the present weights: C_i KL(mu_i, model).
    double gap(int64_t i) {
        const int64_t begin = chains_.begin(i), n = chains_.length(i);
        posterior_.set_edges(edges_.w);
        posterior_.run(z_.data(), n, begin);
        double expected = 0;
        const double *mu = state_.mu + begin * k_, *sums = state_.edge_sums + i * pairs_;
        for (int64_t a = 0; a < n * k_; ++a) expected += mu[a] * z_[size_t(a)];
        for (int64_t p = 0; p < pairs_; ++p) expected += sums[p] * edges_.w[p];
        return std::max(0.0, C_[i] * (posterior_.log_z() - expected - state_.entropy[i]));
    }

    // The weights follow the marginals, or go back; returns by how much |w|^2 grew.
    double move(int64_t i, double sign) {
        const int64_t begin = chains_.begin(i);
        double grown = 0;
        for (int64_t t = 0; t < chains_.length(i); ++t) {
            const double *now = posterior_.mu() + t * k_, *old = state_.mu + (begin + t) * k_;
            for (int64_t k = 0; k < k_; ++k) change_[size_t(k)] = sign * C_[i] * (old[k] - now[k]);
            grown += table_.add(X_[begin + t], change_.data());
        }
        return grown + edges_.add(sign * C_[i], state_.edge_sums + i * pairs_, edge_sum_.data());
    }

    void keep(int64_t i, double entropy) {
        const int64_t at = chains_.begin(i) * k_, count = chains_.length(i) * k_;
        std::copy_n(theta_.data(), count, state_.theta + at);
        std::copy_n(posterior_.mu(), count, state_.mu + at);
        std::copy_n(theta_edge_.data(), pairs_, state_.theta_edge + i * pairs_);
        std::copy_n(edge_sum_.data(), pairs_, state_.edge_sums + i * pairs_);
        state_.entropy[i] = entropy;
    }

    const Rows& X_;
    const Chains& chains_;
    const double* C_;
    Table table_;
    EdgeTable edges_;
    ExponentiatedState state_;
    int64_t k_, pairs_;
    Posterior posterior_;
    std::vector<double> z_, theta_, change_, theta_edge_, edge_sum_;
};

}  // namespace widemargin
