// Passes of forward and backward over all sequences: marginals, sums over edges, log Z, entropy, and derivatives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/chains/layout.hpp"
#include "core/chains/posterior.hpp"

namespace widemargin {

struct PosteriorOut {
    double *log_z, *entropy;  // one per sequence
    double* mu;               // tokens x labels
    double* edge_sums;        // sequences x pairs of labels
};

inline void chain_posteriors(const Chains& chains, const double* z, EdgeScores edges, const PosteriorOut& out,
                             int n_threads) {
    const int64_t k = chains.n_labels(), pairs = chains.n_pairs();
    chains.over_pieces(n_threads, [&](int64_t, int64_t first, int64_t last) {
        Posterior p(k, chains.longest());
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = chains.begin(i);
            if (i == first || !edges.shared()) p.set_edges(edges.of(i));
            p.run(z + begin * k, chains.length(i), begin);
            std::copy_n(p.mu(), p.length() * k, out.mu + begin * k);
            std::fill_n(out.edge_sums + i * pairs, pairs, 0.0);
            p.add_edges(1.0, out.edge_sums + i * pairs);
            out.log_z[i] = p.log_z();
            out.entropy[i] = p.entropy(out.edge_sums + i * pairs);
        }
    });
}

// Sums of the pieces' tables, in the order of the pieces.
inline void add_tables(const std::vector<double>& tables, int64_t size, double* out) {
    for (size_t at = 0; at < tables.size(); at += size_t(size))
        for (int64_t p = 0; p < size; ++p) out[p] += tables[at + size_t(p)];
}

// log Z of every sequence, C_i times its marginals, and C_i times its sums over edges, summed over sequences.
inline void chain_expectations(const Chains& chains, const double* C, const double* z, const double* edge,
                               double* log_z, double* mu, double* edge_sum, int n_threads) {
    const int64_t k = chains.n_labels(), pairs = chains.n_pairs();
    std::vector<double> sums(size_t(chains.n_pieces() * pairs));
    chains.over_pieces(n_threads, [&](int64_t piece, int64_t first, int64_t last) {
        Posterior p(k, chains.longest());
        p.set_edges(edge);
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = chains.begin(i);
            p.run(z + begin * k, chains.length(i), begin);
            for (int64_t a = 0; a < p.length() * k; ++a) mu[begin * k + a] = C[i] * p.mu()[a];
            p.add_edges(C[i], sums.data() + piece * pairs);
            log_z[i] = p.log_z();
        }
    });
    std::fill_n(edge_sum, pairs, 0.0);
    add_tables(sums, pairs, edge_sum);
}

// How the marginals of one sequence change with its scores: z + s a, edge + s b, at s = 0. With g(y) the change of the
// score of y, each derivative is a covariance with g. Forward F and backward G are the expectations of g's part up to a
// position, and after it, given the label there.
class Tangent {
  public:
    Tangent(int64_t n_labels, int64_t longest)
        : k_(n_labels), F_(size_t(k_ * longest)), G_(size_t(k_ * longest)), row_(size_t(k_)) {}

    // change += C cov(g, 1[y_t = .]), edge_change += C cov(g, number of pairs)
    void run(const Posterior& p, double C, const double* a, const double* b, double* change, double* edge_change) {
        const double mean = forward(p, a, b);
        backward(p, a, b);
        for (int64_t i = 0; i < p.length() * k_; ++i)
            change[i] = C * p.mu()[i] * (F_[size_t(i)] + G_[size_t(i)] - mean);
        for (int64_t t = 1; t < p.length(); ++t)
            for (int64_t j = 0; j < k_; ++j) {
                p.row(t, j, row_.data());
                const double before = F_[size_t((t - 1) * k_ + j)] - mean;
                const double *after = G_.data() + t * k_, *at = a + t * k_;
                for (int64_t k = 0; k < k_; ++k)
                    edge_change[j * k_ + k] += C * row_[size_t(k)] * (before + b[j * k_ + k] + at[k] + after[k]);
            }
    }

  private:
    // F; returns the mean of g.
    double forward(const Posterior& p, const double* a, const double* b) {
        for (int64_t t = 0; t < p.length(); ++t) {
            double* F = F_.data() + t * k_;
            std::fill_n(F, k_, 0.0);
            for (int64_t j = 0; j < k_ && t > 0; ++j) {
                p.row(t, j, row_.data());
                for (int64_t k = 0; k < k_; ++k) F[k] += row_[size_t(k)] * (F[j - k_] + b[j * k_ + k]);
            }
            const double* mu = p.mu() + t * k_;
            for (int64_t k = 0; k < k_; ++k) F[k] = a[t * k_ + k] + (mu[k] > 0 && t > 0 ? F[k] / mu[k] : 0.0);
        }
        const int64_t last = p.length() - 1;
        double mean = 0;
        for (int64_t k = 0; k < k_; ++k) mean += p.mu()[last * k_ + k] * F_[size_t(last * k_ + k)];
        return mean;
    }

    void backward(const Posterior& p, const double* a, const double* b) {
        std::fill_n(G_.data() + (p.length() - 1) * k_, k_, 0.0);
        for (int64_t t = p.length() - 1; t > 0; --t) {
            const double *mu = p.mu() + (t - 1) * k_, *after = G_.data() + t * k_;
            for (int64_t j = 0; j < k_; ++j) {
                p.row(t, j, row_.data());
                double sum = 0;
                for (int64_t k = 0; k < k_; ++k) sum += row_[size_t(k)] * (b[j * k_ + k] + a[t * k_ + k] + after[k]);
                G_[size_t((t - 1) * k_ + j)] = mu[j] > 0 ? sum / mu[j] : 0.0;
            }
        }
    }

    int64_t k_;
    std::vector<double> F_, G_, row_;
};

// C_i times the change of every sequence's marginals along (a, b), and that of their sums over edges.
inline void chain_tangent(const Chains& chains, const double* C, const double* z, const double* edge, const double* a,
                          const double* b, double* change, double* edge_change, int n_threads) {
    const int64_t k = chains.n_labels(), pairs = chains.n_pairs();
    std::vector<double> sums(size_t(chains.n_pieces() * pairs));
    chains.over_pieces(n_threads, [&](int64_t piece, int64_t first, int64_t last) {
        Posterior p(k, chains.longest());
        Tangent tangent(k, chains.longest());
        p.set_edges(edge);
        for (int64_t i = first; i < last; ++i) {
            const int64_t at = chains.begin(i) * k;
            p.run(z + at, chains.length(i), chains.begin(i));
            tangent.run(p, C[i], a + at, b, change + at, sums.data() + piece * pairs);
        }
    });
    std::fill_n(edge_change, pairs, 0.0);
    add_tables(sums, pairs, edge_change);
}

}  // namespace widemargin
