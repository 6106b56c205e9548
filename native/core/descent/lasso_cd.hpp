// Coordinate descent for the squared loss with l1, elastic net or l2, over the columns of X.
//
//   min over w, b   rho |w|_1 + (1 - rho)/2 |w|^2 + sum_i C_i (x_i . w + b - y_i)^2
//
// Kept up to date:  q_i = 2 C_i (y_i - x_i . w)   the weighted residual without the intercept
//                   b, sum_q = sum_i q_i, so that v_i = q_i - 2 C_i b is the dual point of (w, b).
//
// The slope of the loss in w_j is -x_j . v and costs the entries of one column. A free intercept is minimised out in
// every step: with s_j = sum_i 2 C_i x_ij and S = sum_i 2 C_i, the curvature falls from sum_i 2 C_i x_ij^2 by s_j^2 / S
// and b moves by -d s_j / S with each step d, so the data are never centred. A regularized intercept is the weight of
// a constant column and takes its own exact step after each change.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/order.hpp"
#include "core/losses/soft_threshold.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

struct LassoColumn {
    double w = 0;
    double curvature = 0;     // of the loss, a free intercept minimised out
    double weighted_sum = 0;  // s_j
};

enum class LassoIntercept { none, regularized, free };

struct LassoReport {
    int64_t passes = 0;
    int64_t steps = 0;     // columns looked at
    int64_t entries = 0;   // entries of those columns: the work
    double gained = 0;     // decrease of the objective
    double last_gain = 0;  // of the last pass alone
};

// What the intercept and the penalty need at every step.
struct LassoState {
    double rho = 1;
    LassoIntercept intercept = LassoIntercept::none;
    double scale = 0;  // the constant column of a regularized intercept
    double total = 0;  // S
    double sum_q = 0;
    double b = 0;
    double uniform = 0;  // 2 C where all rows weigh the same, else 0
};

// argmin over t of  slope (t - at) + curvature/2 (t - at)^2 + rho |t| + (1 - rho)/2 t^2
inline double penalised_minimum(double at, double slope, double curvature, double rho) {
    const double bend = curvature + (1 - rho);
    return bend > 0 ? soft_threshold(curvature * at - slope, rho) / bend : 0.0;
}

inline double penalty_of(double t, double rho) {
    return rho * std::abs(t) + 0.5 * (1 - rho) * t * t;
}

template <class Columns>
class LassoCD {
  public:
    LassoCD(Columns X, LassoState& state, std::vector<LassoColumn>& columns, std::vector<double>& q,
            const std::vector<double>& twice_C)
        : X_(X), s_(state), columns_(columns), q_(q), twice_C_(twice_C) {}

    // Curvatures and weighted sums of all columns, in one pass.
    void prepare() {
        for (int64_t j = 0; j < X_.n_rows; ++j) {
            const auto x = X_[j];
            double square = 0, sum = 0;
            x.for_each([&](int32_t i, double value) {
                const double weighted = twice_C_[size_t(i)] * value;
                square += weighted * value;
                sum += weighted;
            });
            LassoColumn& column = columns_[size_t(j)];
            column.weighted_sum = sum;
            column.curvature = square;
            if (s_.intercept == LassoIntercept::free) {
                const double left = square - sum * sum / s_.total;
                // A constant column is nothing beside a free intercept; rounding must not say otherwise.
                column.curvature = left > 1e-13 * square ? left : 0.0;
            }
        }
    }

    // x_j . v for the columns listed.
    void correlations(const uint32_t* list, int64_t n, double* out) const {
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) X_.prefetch_row_pointer(list[k + prefetch_pointers]);
            if (k + prefetch_data < n) X_.prefetch_row(list[k + prefetch_data]);
            out[k] = correlation(list[k]);
        }
    }

    // The Hessian of the loss in the n columns listed, the intercept minimised out where it can move: n x n, symmetric.
    // Costs n times the entries of these columns.
    void hessian(const uint32_t* list, int64_t n, double* out) const {
        std::vector<double> weighted(q_.size(), 0.0);
        const double shared = intercept_share();
        for (int64_t k = 0; k < n; ++k) {
            const auto x = X_[list[k]];
            x.for_each([&](int32_t i, double value) { weighted[size_t(i)] = twice_C_[size_t(i)] * value; });
            for (int64_t l = 0; l <= k; ++l) {
                const double both = columns_[list[k]].weighted_sum * columns_[list[l]].weighted_sum;
                out[k * n + l] = out[l * n + k] = X_[list[l]].dot(weighted.data()) - shared * both;
            }
            x.for_each([&](int32_t i, double) { weighted[size_t(i)] = 0.0; });
        }
    }

    // Moves the weights of the n columns listed by d, and the intercept to its minimum.
    void shift(const uint32_t* list, int64_t n, const double* d) {
        for (int64_t k = 0; k < n; ++k) {
            if (d[k] == 0) continue;
            LassoColumn& column = columns_[list[k]];
            column.w += d[k];
            move_residual(list[k], d[k]);
            s_.sum_q -= d[k] * column.weighted_sum;
        }
        move_intercept();
    }

    LassoReport run(Order& order, const std::vector<uint32_t>& working, int64_t max_passes, double max_seconds) {
        const auto start = std::chrono::steady_clock::now();
        LassoReport report;
        while (report.passes < max_passes) {
            one_pass(order, working, report);
            ++report.passes;
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (report.last_gain == 0 || spent.count() > max_seconds) break;
        }
        return report;
    }

    void move_intercept() {
        if (s_.intercept == LassoIntercept::free) s_.b = s_.sum_q / s_.total;
        if (s_.intercept == LassoIntercept::regularized) {
            const double slope = -s_.scale * (s_.sum_q - s_.total * s_.b);
            const double curvature = s_.scale * s_.scale * s_.total;
            s_.b = s_.scale * penalised_minimum(s_.b / s_.scale, slope, curvature, s_.rho);
        }
    }

  private:
    // 1 / curvature of the objective in b, where b is not held at zero by the penalty.
    double intercept_share() const {
        if (s_.intercept == LassoIntercept::free) return 1 / s_.total;
        if (s_.intercept == LassoIntercept::regularized && s_.b != 0)
            return 1 / (s_.total + (1 - s_.rho) / (s_.scale * s_.scale));
        return 0;
    }

    double correlation(uint32_t j) const { return X_[j].dot(q_.data()) - s_.b * columns_[j].weighted_sum; }

    void one_pass(Order& order, const std::vector<uint32_t>& working, LassoReport& report) {
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        const bool adaptive = order.adaptive();
        double gained = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) {
                const uint32_t ahead = working[sequence[size_t(k + prefetch_pointers)]];
                X_.prefetch_row_pointer(ahead);
                prefetch(&columns_[ahead]);
            }
            if (k + prefetch_data < n) X_.prefetch_row(working[sequence[size_t(k + prefetch_data)]]);
            const uint32_t place = sequence[size_t(k)], j = working[place];
            const double gain = step(j);
            gained += gain;
            report.entries += X_.nnz(j);
            if (adaptive) order.report(place, gain);
        }
        report.steps += n;
        report.gained += gained;
        report.last_gain = gained;
    }

    // Minimises over w_j exactly and returns by how much the objective fell.
    double step(uint32_t j) {
        LassoColumn& column = columns_[j];
        const double slope = -correlation(j);
        const double next = penalised_minimum(column.w, slope, column.curvature, s_.rho);
        const double d = next - column.w;
        if (d == 0) return 0;
        const double gain =
            penalty_of(column.w, s_.rho) - penalty_of(next, s_.rho) - d * (slope + 0.5 * column.curvature * d);
        column.w = next;
        move_residual(j, d);
        if (s_.intercept != LassoIntercept::none) {
            s_.sum_q -= d * column.weighted_sum;
            move_intercept();
        }
        return std::max(gain, 0.0);
    }

    void move_residual(uint32_t j, double d) {
        const auto x = X_[j];
        if (s_.uniform > 0) {
            x.axpy(-d * s_.uniform, q_.data());
            return;
        }
        x.for_each([&](int32_t i, double value) { q_[size_t(i)] -= d * value * twice_C_[size_t(i)]; });
    }

    Columns X_;
    LassoState& s_;
    std::vector<LassoColumn>& columns_;
    std::vector<double>& q_;
    const std::vector<double>& twice_C_;
};

}  // namespace widemargin
