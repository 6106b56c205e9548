// Passes of dual coordinate descent (survey Algorithm 3; Hsieh et al. 2008) over any row storage and any step of
// dual_steps.hpp. Keeps w = X^T v, the intercept b, the dual value and an estimate of the duality gap up to date.
//
// Intercept: b moves by scale^2 v like the weight of a constant feature. Where the intercept is not penalised the
// caller re-centres b between passes (see solvers/dual/dual_cd.py).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/descent/budget.hpp"
#include "core/descent/dual_steps.hpp"
#include "core/descent/order.hpp"
#include "core/rows/rows.hpp"
#include "core/system/huge.hpp"

namespace widemargin {

struct DualReport {
    int64_t passes = 0;       // passes made by this call
    int64_t steps = 0;        // coordinates looked at by this call
    int64_t n_active = 0;     // coordinates not dropped by shrinking
    double dual = 0;          // dual objective, kept up to date from the starting value
    double gap = 0;           // estimate: the rows' shares of the gap, each as seen when the row was visited
    double violation = 0;     // largest violation of the optimality conditions seen in the last pass
    bool looks_done = false;  // the estimate reached the target
};

// Shrinking as in Hsieh et al. 2008: a variable held at zero is left out when its slack exceeds the largest violation
// that asked any variable to come back towards zero in the last pass; one held at its far bound when its slack exceeds
// the largest violation that asked any to grow.
struct Shrinking {
    bool enabled = true;
    double zero_above = infinity, bound_above = infinity;
    double full_violation = infinity;  // largest violation when all coordinates were last in play

    bool drops(const Look& look) const { return look.slack > (look.at_zero ? zero_above : bound_above); }
    void let_all_in() { zero_above = bound_above = infinity; }

    // After a pass with these largest violations. Once the coordinates in play have become ten times better than all of
    // them were, all should return for a fresh look: whether that is so.
    bool adjust(double inward, double outward, bool all_in_play) {
        const double violation = std::max(inward, outward);
        zero_above = inward > 0 ? inward : infinity;
        bound_above = outward > 0 ? outward : infinity;
        const bool again = !all_in_play && violation < 0.1 * full_violation;
        if (all_in_play || again) full_violation = violation;
        return again;
    }
};

template <class Rows, class Step, class Weight>
class DualCD {
  public:
    DualCD(Rows X, Step step, HugeVector<DualRow>& rows, HugeVector<Weight>& w, double& b, double scale_squared,
           Shrinking& shrinking)
        : X_(X), step_(step), rows_(rows), w_(w), b_(b), scale_squared_(scale_squared), shrinking_(shrinking) {}

    DualReport run(Order& order, double dual, const Budget& target) {
        const auto start = std::chrono::steady_clock::now();
        DualReport report;
        report.dual = dual;
        while (report.passes < target.max_passes) {
            one_pass(order, report);
            ++report.passes;
            report.n_active = order.n_active();
            report.looks_done = target.is_met(report.gap, report.dual + report.gap, report.dual);
            if (report.looks_done || report.n_active == 0) break;
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > target.max_seconds) break;
        }
        return report;
    }

  private:
    void one_pass(Order& order, DualReport& report) {
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        const bool adaptive = order.adaptive();
        double gap = 0, inward = 0, outward = 0, gained = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) {
                const uint32_t ahead = sequence[size_t(k + prefetch_pointers)];
                X_.prefetch_row_pointer(ahead);
                prefetch(&rows_[ahead]);
            }
            if (k + prefetch_data < n) X_.prefetch_row(sequence[size_t(k + prefetch_data)]);

            const uint32_t i = sequence[size_t(k)];
            DualRow& row = rows_[i];
            const auto x = X_[i];
            const double z = x.dot(w_.data()) + b_ + row.private_part * row.v;
            const Look look = step_.look(row, z);
            // An adaptive pass shows row i about p_i times.
            const double share = step_.gap(row, z, look);
            gap += adaptive ? share / order.preference(i) : share;
            if (look.slack > 0 && shrinking_.drops(look)) {
                order.drop(i);
                continue;
            }
            double gain = 0;
            if (look.violation > 0) {
                double& largest = look.outward ? outward : inward;
                largest = std::max(largest, look.violation);
                const double next = step_.solve(row, look);
                gain = step_.gain(row, look, next);
                const double d = next - row.v;
                if (d != 0) {
                    row.v = next;
                    x.axpy(d, w_.data());
                    b_ += scale_squared_ * d;
                }
            }
            gained += gain;
            if (adaptive) order.report(i, gain);
        }
        report.steps += n;
        report.dual += gained;
        report.gap = gap;
        report.violation = std::max(inward, outward);
        if (shrinking_.enabled && shrinking_.adjust(inward, outward, order.n_active() == order.n_eligible())) {
            order.restore();
            shrinking_.let_all_in();
        }
    }

    Rows X_;
    Step step_;
    HugeVector<DualRow>& rows_;
    HugeVector<Weight>& w_;
    double& b_;
    double scale_squared_;
    Shrinking& shrinking_;
};

}  // namespace widemargin
