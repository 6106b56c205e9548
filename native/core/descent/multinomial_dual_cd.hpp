// Dual coordinate descent for maximum entropy, one row's k variables at a time (Yu, Huang, Lin 2011, section 5).
//
//   max over alpha   -1/2 |W|^2 - sum_im alpha_im log(alpha_im / C_i)     W = X^T v,  v_i = C_i e_y - alpha_i
//                    sum_m alpha_im = C_i,  alpha_im >= 0
//
// With the other rows at rest, A = |x_i|^2 and z the scores at the present alpha, row i's best alpha' solves
//
//   log alpha'_m + A alpha'_m = z_m + A alpha_m - lambda,     sum_m alpha'_m = C_i
//
// The paper takes pairs of variables in turn; here Newton's method solves for all of them and lambda together, in the
// variables t = log alpha. Its matrix is an arrow, so a step costs k. Where alpha is small the equations are linear in
// t and one step is exact; logarithms, which the paper warns of, are never taken of a difference.
//
// The row's share of the duality gap is C_i times the divergence of alpha / C_i from softmax(z).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/class_dual.hpp"

namespace widemargin {

struct EntropyDualState : ClassDualState {
    HugeVector<double> log_alpha;  // rows x classes
    std::vector<double> log_C;
    double last_gap = 0;

    // v_i, from alpha_i.
    void dual_row(int64_t i, double* v) const {
        for (int64_t c = 0; c < n_classes; ++c) v[c] = -alpha[size_t(i * n_classes + c)];
        v[y[size_t(i)]] += C[size_t(i)];
    }
};

template <class Rows, class T>
class MultinomialDualCD {
  public:
    MultinomialDualCD(Rows X, EntropyDualState& state, ClassTable<T>& W)
        : X_(X),
          s_(state),
          W_(W),
          k_(state.n_classes),
          z_(size_t(k_)),
          a_(size_t(k_)),
          t_(size_t(k_)),
          r_(size_t(k_)),
          q_(size_t(k_)),
          read_(size_t(W.stride())) {}

    SequentialReport run(Order& order, const Budget& target) {
        return make_passes(order, target, s_.dual, [&](SequentialReport& report) {
            // Rows that are this good take no step: together they hold a tenth of the gap that may be left.
            const double allowed = target.allowed(std::abs(s_.dual) + s_.last_gap, s_.dual) / target.trust;
            good_enough_ = 0.1 * allowed / double(std::max<int64_t>(1, X_.n_rows));
            one_pass(order, report);
            s_.last_gap = report.gap;
        });
    }

  private:
    static constexpr int most_newton_steps = 12;
    static constexpr double newton_share = 0.01;  // a Newton step this small beside all of them was the last one

    void one_pass(Order& order, SequentialReport& report) {
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        const bool adaptive = order.adaptive();
        double gap = 0, worst = 0;
        for (int64_t at = 0; at < n; ++at) {
            ask_ahead(X_, s_, sequence, at);
            if (at + prefetch_data < n)
                prefetch_block(&s_.log_alpha[size_t(sequence[size_t(at + prefetch_data)]) * size_t(k_)],
                               k_ * int64_t(sizeof(double)));
            const uint32_t i = sequence[size_t(at)];
            look(i);
            const double share = measure(i);
            gap += adaptive ? share / order.preference(i) : share;
            worst = std::max(worst, share / s_.C[i]);
            const double gain = share > good_enough_ ? solve(i) : 0.0;
            s_.dual += gain;
            if (adaptive) order.report(i, gain);
        }
        report.steps += n;
        report.gap = gap;
        report.violation = worst;
    }

    // z at the present alpha.
    void look(uint32_t i) {
        const double* alpha = &s_.alpha[size_t(i) * size_t(k_)];
        const double folded = s_.private_part[i];
        W_.scores(X_[i], read_.data());
        for (int64_t c = 0; c < k_; ++c) z_[size_t(c)] = double(read_[size_t(c)]) + s_.intercepts[size_t(c)];
        if (folded == 0) return;
        for (int64_t c = 0; c < k_; ++c) z_[size_t(c)] -= folded * alpha[c];
        z_[size_t(s_.y[i])] += folded * s_.C[i];
    }

    // C log sum_m exp(z_m) - C log C + sum_m alpha_m (log alpha_m - z_m)
    double measure(uint32_t i) const {
        const double* alpha = &s_.alpha[size_t(i) * size_t(k_)];
        const double* t = &s_.log_alpha[size_t(i) * size_t(k_)];
        const double top = *std::max_element(z_.begin(), z_.end());
        double sum = 0, product = 0;
        for (int64_t c = 0; c < k_; ++c) {
            sum += std::exp(z_[size_t(c)] - top);
            product += alpha[c] * (t[c] - z_[size_t(c)] + top);
        }
        return std::max(0.0, s_.C[i] * (std::log(sum) - s_.log_C[i]) + product);
    }

    // Moves alpha_i to where its row is best, and W with it; returns what the dual gains.
    double solve(uint32_t i) {
        double* alpha = &s_.alpha[size_t(i) * size_t(k_)];
        double* t = &s_.log_alpha[size_t(i) * size_t(k_)];
        const double A = s_.sqnorms[i] + s_.scale_squared;
        std::copy_n(alpha, k_, a_.begin());
        std::copy_n(t, k_, t_.begin());
        newton(i, A, alpha);
        onto_simplex(i);
        double gain = gained(A, alpha, t);
        for (int halvings = 0; !(gain >= 0) && halvings < 30; ++halvings) {
            // Newton's method was stopped too far away: half as far is safer, the row's problem being convex.
            for (int64_t c = 0; c < k_; ++c) {
                a_[size_t(c)] = 0.5 * (a_[size_t(c)] + alpha[c]);
                t_[size_t(c)] = std::log(std::max(a_[size_t(c)], least));
            }
            gain = gained(A, alpha, t);
        }
        if (!(gain > 0)) return 0;
        for (int64_t c = 0; c < k_; ++c) {
            const double d = alpha[c] - a_[size_t(c)];  // of v
            read_[size_t(c)] = T(d);
            s_.intercepts[size_t(c)] += s_.scale_squared * d;
        }
        std::fill(read_.begin() + k_, read_.end(), T(0));
        std::copy(a_.begin(), a_.end(), alpha);
        std::copy(t_.begin(), t_.end(), t);
        W_.add(X_[i], read_.data());
        return gain;
    }

    // r_m = z_m + A alpha_m - lambda - t'_m - A alpha'_m becomes 0, and sum alpha' = C.
    void newton(uint32_t i, double A, const double* alpha) {
        const double C = s_.C[i], log_C = s_.log_C[i];
        for (int step = 0; step < most_newton_steps; ++step) {
            double weight = 0, weighted = 0, total = 0;
            for (int64_t c = 0; c < k_; ++c) {
                const double a = a_[size_t(c)];
                r_[size_t(c)] = z_[size_t(c)] + A * (alpha[c] - a) - t_[size_t(c)];
                q_[size_t(c)] = 1 / (1 + A * a);
                weight += a * q_[size_t(c)];
                weighted += a * q_[size_t(c)] * r_[size_t(c)];
                total += a;
            }
            const double lambda = (weighted - (C - total)) / weight;
            double moved = 0, last = 0;
            for (int64_t c = 0; c < k_; ++c) {
                t_[size_t(c)] = std::min(log_C, t_[size_t(c)] + (r_[size_t(c)] - lambda) * q_[size_t(c)]);
                const double next = std::exp(t_[size_t(c)]);
                last += std::abs(next - a_[size_t(c)]);
                a_[size_t(c)] = next;
                moved += std::abs(next - alpha[c]);
            }
            if (last <= newton_share * moved || moved <= 1e-15 * C) return;
        }
    }

    void onto_simplex(uint32_t i) {
        double total = 0;
        for (const double a : a_) total += a;
        if (!(total > 0)) return;
        const double scale = s_.C[i] / total, shift = std::log(scale);
        for (int64_t c = 0; c < k_; ++c) a_[size_t(c)] *= scale, t_[size_t(c)] += shift;
    }

    double gained(double A, const double* alpha, const double* t) const {
        double gain = 0;
        for (int64_t c = 0; c < k_; ++c) {
            const double d = a_[size_t(c)] - alpha[c];
            gain += d * (z_[size_t(c)] - 0.5 * A * d) - (a_[size_t(c)] * t_[size_t(c)] - alpha[c] * t[c]);
        }
        return gain;
    }

    static constexpr double least = 1e-300;

    Rows X_;
    EntropyDualState& s_;
    ClassTable<T>& W_;
    int64_t k_;
    double good_enough_ = 0;
    std::vector<double> z_, a_, t_, r_, q_;  // scores; alpha', log alpha'; Newton's residuals and weights
    std::vector<T> read_;
};

}  // namespace widemargin
