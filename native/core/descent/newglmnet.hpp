// The quadratic model of newGLMNET (Yuan, Ho, Lin, "An Improved GLMNET for L1-regularized Logistic Regression", 2012)
// and its solution by coordinate descent over columns.
//
//   Q(d) = g . d + 1/2 d . (X^T H X + ridge I + nu I) d + rho (|w + d|_1 - |w|_1),      H = diag(C_i loss''(z_i))
//
// `measure` finds the slopes g of all active columns and chooses the working set: the columns with a weight or a
// violation; the others could not move first. `pass` goes over the working set. Per row, the curvature h and
// t = (X d)_i stand side by side. Shrinking happens on both levels: a zero weight whose slope is firmly inside
// |g| < rho leaves the active columns in `measure`, the model's passes in `pass`.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/primal_cd.hpp"
#include "core/losses/primal_rows.hpp"
#include "core/system/rng.hpp"

namespace widemargin {

struct ModelRow {
    double h = 0, t = 0;
};

struct ModelColumn {
    double w = 0;          // the weight at the outer iterate
    double next = 0;       // w + d
    double slope = 0;      // of the smooth part at the outer iterate
    double curvature = 0;  // diagonal of the model's Hessian
};

struct OuterReport {
    int64_t n_active = 0, n_support = 0;
    double violation = 0;  // sum of the violations
    double largest_violation = 0;
    double largest_slope = 0;  // of the loss alone
    double tilt = 0;           // R(w) + w . g for the slopes g of the loss: the gap but for what lies beyond |g| <= rho
    double gap = 0;            // sum of the coordinates' shares where there is a ridge
};

struct InnerReport {
    int64_t passes = 0, steps = 0;
    int64_t entries = 0;  // of the columns looked at: the work
    double violation = 0;
    bool done = false;
};

template <class Columns>
class NewtonModel {
  public:
    static constexpr double nu = 1e-12;

    NewtonModel(Columns X, PrimalPenalty penalty, std::vector<ModelColumn>& columns, std::vector<ModelRow>& rows)
        : X_(X), penalty_(penalty), columns_(columns), rows_(rows) {}

    // One pass over the given columns at a new iterate. Columns that count go to the working set; zero weights whose
    // slope is inside |g| < rho by more than `inside` move from `active` to `dropped`.
    void measure(const double* u, double inside, std::vector<uint32_t>& active, std::vector<uint32_t>& dropped,
                 std::vector<uint32_t>& working, OuterReport& report) {
        size_t kept = 0;
        const auto n = int64_t(active.size());
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) {
                X_.prefetch_row_pointer(active[size_t(k + prefetch_pointers)]);
                prefetch(&columns_[active[size_t(k + prefetch_pointers)]]);
            }
            if (k + prefetch_data < n) X_.prefetch_row(active[size_t(k + prefetch_data)]);
            const uint32_t j = active[size_t(k)];
            ModelColumn& at = columns_[j];
            const auto x = X_[j];
            const double g = x.dot(u);
            report.largest_slope = std::max(report.largest_slope, std::abs(g));
            if (penalty_.rho > 0 && at.w == 0 && std::abs(g) < penalty_.rho - inside) {
                dropped.push_back(j);
                continue;
            }
            active[kept++] = j;
            at.slope = g + penalty_.ridge * at.w;
            at.next = at.w;
            const double violation = penalty_.violation(at.w, at.slope);
            report.violation += violation;
            report.n_support += at.w != 0;
            report.tilt += penalty_.value(at.w) + at.w * g;
            report.largest_violation = std::max(report.largest_violation, violation);
            if (penalty_.ridge > 0) report.gap += penalty_.gap(at.w, g);
            if (at.w == 0 && violation == 0) continue;
            working.push_back(j);
        }
        active.resize(kept);
    }

    // Of the columns that count, those without a weight and with less than this violation wait for a later model; the
    // others' curvatures are found.
    void choose(std::vector<uint32_t>& working, double least_violation) {
        size_t kept = 0;
        for (const uint32_t j : working) {
            ModelColumn& at = columns_[j];
            if (at.w == 0 && penalty_.violation(0, at.slope) < least_violation) continue;
            at.curvature = model_curvature(X_[j]);
            working[kept++] = j;
        }
        working.resize(kept);
    }

    template <class Row>
    double model_curvature(const Row& x) const {
        const ModelRow* rows = rows_.data();
        return penalty_.ridge + nu + x.sum([=](int32_t i, double v) { return v * v * rows[i].h; });
    }

    // One pass of the model over the first `n_live` columns of the working set; columns that are shrunk are swapped
    // behind them. Returns the sum of the violations; `largest` receives the largest.
    double pass(std::vector<uint32_t>& working, size_t& n_live, double inside, double& largest, int64_t& entries) {
        double total = 0;
        for (size_t k = 0; k < n_live; ++k) {
            if (k + prefetch_pointers < n_live) {
                X_.prefetch_row_pointer(working[k + prefetch_pointers]);
                prefetch(&columns_[working[k + prefetch_pointers]]);
            }
            if (k + prefetch_data < n_live) X_.prefetch_row(working[k + prefetch_data]);
            const uint32_t j = working[k];
            ModelColumn& at = columns_[j];
            const auto x = X_[j];
            entries += X_.nnz(j);
            const double slope = model_slope(x, at);
            if (penalty_.rho > 0 && at.next == 0 && std::abs(slope) < penalty_.rho - inside) {
                std::swap(working[k--], working[--n_live]);
                continue;
            }
            const double violation = penalty_.violation(at.next, slope);
            total += violation;
            largest = std::max(largest, violation);
            move(x, at, slope);
        }
        return total;
    }

    // The intercept's step; it is never shrunk. Returns its violation.
    double step(const ConstantColumn& ones, ModelColumn& at) {
        const double slope = model_slope(ones, at);
        move(ones, at, slope);
        return penalty_.violation(at.next, slope);
    }

  private:
    template <class Row>
    double model_slope(const Row& x, const ModelColumn& at) const {
        const ModelRow* rows = rows_.data();
        const double bend = x.sum([=](int32_t i, double v) { return v * rows[i].h * rows[i].t; });
        return at.slope + penalty_.ridge * (at.next - at.w) + bend;
    }

    template <class Row>
    void move(const Row& x, ModelColumn& at, double slope) {
        const double z = penalty_.direction(at.next, slope, at.curvature);
        if (std::abs(z) < 1e-14 * (1 + std::abs(at.next))) return;
        at.next += z;
        ModelRow* rows = rows_.data();
        x.for_each([=](int32_t i, double v) { rows[i].t += z * v; });
    }

    Columns X_;
    PrimalPenalty penalty_;
    std::vector<ModelColumn>& columns_;
    std::vector<ModelRow>& rows_;
};

}  // namespace widemargin
