// Epochs of stochastic (sub)gradient descent with the learning rate 1/(t0 + t), after Panagiotakopoulos and Tsampouka,
// "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited" (2013). Numbers in brackets are that
// paper's. With lambda = 1 / sum_i C_i and s_i = C_i / mean(C), presenting row i at time t makes
//
//     w <- (1 - 1/(t0+t+1)) w - s_i loss'(z_i) x_i / (lambda (t0+t+1))
//
// and the change of variable  w_t = a_t / (lambda (t0+t))  [4] leaves of it only  a <- a - s_i loss'(z_i) x_i  [5]: the
// shrinking of w is the counting of t. After T whole epochs a = sum_i s_i p_i y_i x_i, where p_i, the pull of row i, is
// the sum of its -y_i loss' (for the hinge: the number of its margin errors), so v_i = y_i C_i p_i / (T + t0/m) lies in
// the domain of the conjugates [10-12]: the dual point for which w = X^T v.
//
// With a smooth loss a step that is long beside 1 / (s_i loss'' |x_i|^2) throws row i farther to the other side than it
// was on this one, and a few such rows make w explode. So the pull of a row is cut to what reaches its own minimum:
// each step is then a contraction, on features of any scale, and once the rate has fallen nothing is cut. A pull that
// is cut lies between zero and -y loss', inside the domain as well.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/order.hpp"
#include "core/losses/losses.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

// Proposition 3 [13]: of `times` presentations in a row of a pattern of squared length q, how many are margin errors;
// P = a . y - lambda t before the first of them.
inline int64_t count_margin_errors(double P, double q, double lambda, int64_t times) {
    const double room = double(times - 1) * lambda - P;
    if (room < 0) return 0;
    const double errors = std::floor(room / std::max(q, lambda)) + 1;
    return errors < double(times) ? int64_t(errors) : times;
}

struct SgdRow {
    double y;     // label
    double step;  // s_i = C_i / mean(C)
    double q;     // |x_i|^2, with the constant feature
    double pull;  // p_i
};

struct SgdReport {
    double epochs = 0;  // T: how often each row was presented since the start
    double primal = 0;  // estimate: each row's loss as it was when the row was last presented
    double dual = 0;    // L^T [9]; a bound only if the rows are presented in complete epochs
    double sqnorm = 0;  // |w|^2
};

// What the passes carry from one to the next.
struct SgdState {
    std::vector<double> a;
    double a_bias = 0;       // the constant feature's value times its component of a
    double rho_squared = 0;  // the constant feature's value, squared
    double lambda = 1;       // 1 / sum_i C_i
    double mean_C = 1;       // over the rows that count
    double offset = 0;       // t0
    double t = 0;            // presentations so far
    double sqnorm = 0;       // |a|^2, kept up to date
    double pulled = 0;       // sum_i s_i p_i: for equal weights and hinge, M
    int64_t pass = 0;        // passes so far
    std::vector<SgdRow> rows;
    std::vector<uint32_t> shown;  // how often each row was presented; empty for complete epochs

    double theta() const { return lambda * (offset + t); }
};

template <class Rows, class Loss>
class Sgd {
  public:
    Sgd(Rows X, Loss loss, SgdState& state) : X_(X), loss_(loss), s_(state) {}

    SgdReport epoch(Order& order, int64_t multiplicity) {
        ++s_.pass;
        // SGD-m: in four passes of nine.
        const bool multiple = s_.pass % 9 > 0 && s_.pass % 9 < 5;
        return judged(one_pass(order.next_pass(), multiple ? multiplicity : 1));
    }

    // Presents these rows once each; returns the sum of s_i loss_i, each as it was when its row came.
    double one_pass(const std::vector<uint32_t>& sequence, int64_t times) {
        const auto n = int64_t(sequence.size());
        double loss = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) {
                const uint32_t ahead = sequence[size_t(k + prefetch_pointers)];
                X_.prefetch_row_pointer(ahead);
                prefetch(&s_.rows[ahead]);
            }
            if (k + prefetch_data < n) X_.prefetch_row(sequence[size_t(k + prefetch_data)]);
            loss += present(sequence[size_t(k)], times);
        }
        return loss;
    }

  private:
    double present(uint32_t i, int64_t times) {
        SgdRow& row = s_.rows[i];
        const auto x = X_[i];
        const double p = row.y * (x.dot(s_.a.data()) + s_.a_bias);
        const double theta = s_.theta();
        const double z = theta > 0 ? row.y * p / theta : 0.0;
        const double pull = pull_of(row, p - theta, z, times);
        if (!s_.shown.empty()) s_.shown[i] += uint32_t(times);
        s_.t += double(times);
        if (pull != 0) {
            const double d = row.step * pull;
            x.axpy(row.y * d, s_.a.data());
            s_.a_bias += s_.rho_squared * row.y * d;
            s_.sqnorm += d * (2 * p + d * row.q);
            s_.pulled += d;
            row.pull += pull;
        }
        return row.step * loss_.value(z, row.y);
    }

    double pull_of(const SgdRow& row, double P, double z, int64_t times) const {
        if constexpr (!Loss::smooth)
            if (loss_.lower() == 0)
                return loss_.upper() *
                       double(count_margin_errors(P, row.step * row.q * loss_.upper(), s_.lambda, times));
        return cut(row) * -row.y * loss_.derivative(z, row.y);
    }

    // How much of a row's pull the curvature of its loss allows.
    double cut(const SgdRow& row) const {
        if constexpr (!Loss::smooth) return 1.0;
        const double room = s_.lambda * (s_.offset + s_.t + 1), most = row.step * row.q * loss_.most_curvature();
        return most > room ? room / most : 1.0;
    }

    // The objective by the losses seen during the pass, and the dual value at the pulls.
    SgdReport judged(double loss) const {
        const double theta = s_.theta();
        SgdReport report;
        report.epochs = s_.t * s_.lambda * s_.mean_C;
        report.sqnorm = std::max(0.0, s_.sqnorm) / (theta * theta);
        report.primal = 0.5 * report.sqnorm + s_.mean_C * loss;
        report.dual = -0.5 * report.sqnorm - conjugates(theta);
        return report;
    }

    // sum_i C_i conjugate(-v_i / C_i); where the conjugate is linear, from the total alone.
    double conjugates(double theta) const {
        if constexpr (!Loss::smooth) return -s_.pulled / theta;
        double sum = 0;
        for (const SgdRow& row : s_.rows)
            sum += row.step * loss_.conjugate(-row.y * row.pull / (theta * s_.mean_C), row.y);
        return s_.mean_C * sum;
    }

    Rows X_;
    Loss loss_;
    SgdState& s_;
};

}  // namespace widemargin
