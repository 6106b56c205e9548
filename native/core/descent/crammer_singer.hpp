// The sequential dual method for Crammer and Singer's multi-class SVM (Keerthi, Sundararajan, Chang, Hsieh, Lin 2008;
// LIBLINEAR paper, Appendix E).
//
//   min over alpha   1/2 |W|^2 + sum_im e_im alpha_im      W = X^T alpha,  e_im = 1 if m != y_i, else 0
//                    sum_m alpha_im = 0,  alpha_im <= C_im,  C_im = C_i if m = y_i, else 0
//
// One row's k variables are solved for exactly while all others rest. With G_m = z_m + e_m the slope, A = |x_i|^2 and
// delta_m = C_m - alpha_m >= 0 it is the projection of (G_m + A delta_m) / A onto the simplex sum delta = C_i:
// delta_m = max(0, D_m - beta) / A where D_m = G_m - A alpha_m + A C_m. No sort is needed: beta >= max D - A C leaves
// few candidates, and dropping those below the mean of the rest, again and again, ends at beta.
//
// Optimal when max_m G_m <= min of G_m over alpha_m < C_m. Shrinking leaves out a class whose alpha_m is held at its
// bound with slack, and a row of which one class is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/descent/class_dual.hpp"

namespace widemargin {

// What the descent keeps between calls; v is alpha itself.
struct SequentialState : ClassDualState {
    HugeVector<uint32_t> classes;   // rows x classes: the own one, then the others in play, then the rest
    std::vector<uint32_t> in_play;  // how many of them
    bool shrinking = true;
    double drop_above = std::numeric_limits<double>::infinity();  // slack from which a class is left out
    double full_violation = std::numeric_limits<double>::infinity();

    void let_all_in() {
        drop_above = std::numeric_limits<double>::infinity();
        std::fill(in_play.begin(), in_play.end(), uint32_t(n_classes));
    }
};

template <class Rows, class T>
class CrammerSinger {
  public:
    CrammerSinger(Rows X, SequentialState& state, ClassTable<T>& W)
        : X_(X),
          s_(state),
          W_(W),
          k_(state.n_classes),
          G_(size_t(k_)),
          a_(size_t(k_)),
          D_(size_t(k_)),
          candidates_(size_t(k_)),
          read_(size_t(W.stride())),
          change_(size_t(W.stride())) {
        moved_.reserve(size_t(k_));
    }

    SequentialReport run(Order& order, const Budget& target) {
        return make_passes(order, target, s_.dual, [&](SequentialReport& report) { one_pass(order, report); });
    }

  private:
    struct Slopes {
        double top, lowest_free;
    };

    void one_pass(Order& order, SequentialReport& report) {
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        double gap = 0, violation = 0;
        for (int64_t at = 0; at < n; ++at) {
            ask_ahead(X_, s_, sequence, at);
            ask_for_classes(sequence, at);
            const uint32_t i = sequence[size_t(at)];
            look(i);
            const Slopes slopes = measure(i, gap, order);
            if (s_.shrinking) leave_out(i, slopes.lowest_free);
            if (s_.in_play[i] <= 1) {
                order.drop(i);
                continue;
            }
            const double worst = slopes.top - slopes.lowest_free;
            violation = std::max(violation, worst);
            double gain = 0;
            if (worst > 1e-14 * std::max(1.0, std::abs(slopes.top))) gain = solve(i);
            s_.dual += gain;
            if (order.adaptive()) order.report(i, gain);
        }
        report.steps += n;
        report.gap = gap;
        report.violation = violation;
        if (s_.shrinking) adjust_shrinking(order, violation);
    }

    void ask_for_classes(const std::vector<uint32_t>& sequence, int64_t at) const {
        if (at + prefetch_data >= int64_t(sequence.size())) return;
        const uint32_t ahead = sequence[size_t(at + prefetch_data)];
        prefetch(&s_.in_play[ahead]);
        prefetch_block(&s_.classes[size_t(ahead) * size_t(k_)], k_ * int64_t(sizeof(uint32_t)));
    }

    // The slopes G and variables of the classes in play, in the order of the row's list, the own class first. W gives
    // the scores of all classes side by side or, where few are left, of those alone.
    void look(uint32_t i) {
        const uint32_t count = s_.in_play[i];
        const uint32_t* m = &s_.classes[size_t(i) * size_t(k_)];
        const double* alpha = &s_.alpha[size_t(i) * size_t(k_)];
        const double folded = s_.private_part[i];
        const bool few = int64_t(count) <= W_.few();
        if (few)
            W_.few_scores(X_[i], m, count, read_.data());
        else
            W_.scores(X_[i], read_.data());
        for (uint32_t c = 0; c < count; ++c) {
            const uint32_t a_class = m[c];
            a_[c] = alpha[a_class];
            G_[c] = double(read_[few ? c : a_class]) + s_.intercepts[a_class] + folded * a_[c] + 1;
        }
        G_[0] -= 1;
    }

    // The largest slope, the smallest of a class that may grow, and the row's share of the duality gap,
    // C max_m (e_m + z_m - z_y) + alpha . z - alpha_y, where alpha . z - alpha_y = alpha . G because alpha sums to
    // zero.
    Slopes measure(uint32_t i, double& gap, const Order& order) const {
        const uint32_t count = s_.in_play[i];
        const double* G = G_.data();
        const double* alpha = a_.data();
        double top = G[0], product = alpha[0] * G[0];
        double lowest = alpha[0] < s_.C[i] ? G[0] : std::numeric_limits<double>::infinity();
#pragma omp simd reduction(max : top) reduction(min : lowest) reduction(+ : product)
        for (uint32_t c = 1; c < count; ++c) {
            product += alpha[c] * G[c];
            top = std::max(top, G[c]);
            lowest = std::min(lowest, alpha[c] < 0 ? G[c] : std::numeric_limits<double>::infinity());
        }
        const double share = s_.C[i] * (top - G[0]) + product;
        gap += order.adaptive() ? share / order.preference(i) : share;
        return {top, lowest};
    }

    // Classes held at their bound with enough slack change places with the last one in play. The own class stays.
    void leave_out(uint32_t i, double lowest_free) {
        const double below = lowest_free - s_.drop_above;
        if (below == -std::numeric_limits<double>::infinity()) return;
        uint32_t* m = &s_.classes[size_t(i) * size_t(k_)];
        uint32_t& count = s_.in_play[i];
        for (uint32_t c = 1; c < count;) {
            if (a_[c] >= 0 && G_[c] < below) {
                --count;
                std::swap(m[c], m[count]);
                a_[c] = a_[count], G_[c] = G_[count];
            } else {
                ++c;
            }
        }
    }

    // Solves for the row's variables in play and moves W; returns what the dual gains.
    double solve(uint32_t i) {
        const double A = s_.sqnorms[i] + s_.scale_squared, C = s_.C[i];
        const uint32_t count = s_.in_play[i];
        double* D = D_.data();
        const double* G = G_.data();
        const double* a = a_.data();
        double highest = D[0] = G[0] - A * (a[0] - C);
#pragma omp simd reduction(max : highest)
        for (uint32_t c = 1; c < count; ++c) {
            D[c] = G[c] - A * a[c];
            highest = std::max(highest, D[c]);
        }
        // A class out of play is held at its bound, so its delta is 0 and the sum over those in play is C.
        const double beta = threshold(count, highest, A * C);
        double total = 0;
        for (uint32_t c = 0; c < count; ++c) total += D[c] = std::max(0.0, D[c] - beta);
        if (!(total > 0)) return 0;
        return apply(i, C / total);  // close to 1 / A; exactly so that the deltas sum to C
    }

    // delta = share * D: the variables, the intercepts and W follow.
    double apply(uint32_t i, double share) {
        const double A = s_.sqnorms[i] + s_.scale_squared, C = s_.C[i];
        const uint32_t* m = &s_.classes[size_t(i) * size_t(k_)];
        double* alpha = &s_.alpha[size_t(i) * size_t(k_)];
        moved_.clear();
        double gain = 0;
        for (uint32_t c = 0; c < s_.in_play[i]; ++c) {
            const double next = (c == 0 ? C : 0.0) - share * D_[c], d = next - a_[c];
            if (d == 0) continue;
            gain -= d * (G_[c] + 0.5 * A * d);
            alpha[m[c]] = next;
            s_.intercepts[m[c]] += s_.scale_squared * d;
            D_[moved_.size()] = d;  // read before: no later than entry c
            moved_.push_back(m[c]);
        }
        move_weights(i);
        return gain;
    }

    // beta with sum max(0, D - beta) = mass.
    double threshold(uint32_t count, double highest, double mass) {
        const double cut = highest - mass;
        uint32_t left = 0;
        double sum = 0;
        for (uint32_t c = 0; c < count; ++c) {
            candidates_[left] = D_[c];
            const bool above = D_[c] > cut;
            left += above;
            sum += above ? D_[c] : 0.0;
        }
        if (left == 0) return cut;  // rounding swallowed the mass
        while (true) {
            const double beta = (sum - mass) / double(left);
            uint32_t kept = 0;
            double rest = 0;
            for (uint32_t c = 0; c < left; ++c)
                if (candidates_[c] > beta) candidates_[kept++] = candidates_[c], rest += candidates_[c];
            if (kept == left || kept == 0) return beta;
            left = kept, sum = rest;
        }
    }

    void move_weights(uint32_t i) {
        const auto count = int64_t(moved_.size());
        if (count == 0) return;
        if (count <= W_.few()) {
            for (int64_t c = 0; c < count; ++c) change_[size_t(c)] = T(D_[size_t(c)]);
            W_.few_add(X_[i], moved_.data(), count, change_.data());
            return;
        }
        std::fill(change_.begin(), change_.end(), T(0));
        for (int64_t c = 0; c < count; ++c) change_[moved_[size_t(c)]] = T(D_[size_t(c)]);
        W_.add(X_[i], change_.data());
    }

    // Once the rows in play have become ten times better than all rows were, all return for a fresh look.
    void adjust_shrinking(Order& order, double violation) {
        const bool all =
            order.n_active() == order.n_eligible() && s_.drop_above == std::numeric_limits<double>::infinity();
        s_.drop_above = violation;
        if (all) s_.full_violation = violation;
        if (!all && violation < 0.1 * s_.full_violation) {
            order.restore();
            s_.let_all_in();
            s_.full_violation = violation;
        }
    }

    Rows X_;
    SequentialState& s_;
    ClassTable<T>& W_;
    int64_t k_;
    std::vector<double> G_, a_;  // slopes and variables of the row at hand
    std::vector<double> D_, candidates_;
    std::vector<T> read_, change_;
    std::vector<uint32_t> moved_;
};

}  // namespace widemargin
