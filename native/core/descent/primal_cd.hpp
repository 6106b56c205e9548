// Passes of primal coordinate descent over columns.
//
//   l2    Chang, Hsieh, Lin, "Coordinate Descent Method for Large-scale L2-loss Linear SVM" (2008), Algorithms 1 to 3
//   l1    Yuan, Chang, Hsieh, Lin, "A Comparison of Optimization Methods ... for Large-scale L1-regularized Linear
//         Classification" (2010), the method called CDN; the elastic net adds its curvature
//
// A step on coordinate j takes the Newton direction d of D(z) = f(w + z e_j) and the first z = d, d/2, d/4, ... with
// sufficient decrease. Where a bound on D already promises it (the lambda-bar test, Eq. 15), D is not evaluated.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/budget.hpp"
#include "core/descent/order.hpp"
#include "core/losses/primal_rows.hpp"

namespace widemargin {

struct PrimalPenalty {
    double rho, ridge;  // rho |w|_1 + ridge/2 |w|^2

    double value(double w) const { return rho * std::abs(w) + 0.5 * ridge * w * w; }

    // Share of one coordinate in the gap: R(w) + R*(-g) + w g, for the slope g of the loss. Needs ridge > 0.
    double gap(double w, double g) const {
        const double beyond = std::max(0.0, std::abs(g) - rho);
        return std::max(0.0, value(w) + beyond * beyond / (2 * ridge) + w * g);
    }

    // The Newton direction of the smooth slope and curvature plus rho |w|.
    double direction(double w, double slope, double curvature) const {
        if (slope + rho <= curvature * w) return -(slope + rho) / curvature;
        if (slope - rho >= curvature * w) return -(slope - rho) / curvature;
        return -w;
    }

    // How far the shortest subgradient is from zero.
    double violation(double w, double slope) const {
        if (w > 0) return std::abs(slope + rho);
        if (w < 0) return std::abs(slope - rho);
        return std::max(0.0, std::abs(slope) - rho);
    }
};

// One coordinate: its weight, sum_i C_i x_ij^2 and max_i |x_ij|.
struct PrimalCoordinate {
    double w = 0, weighted_sqnorm = 0, reach = 0;
};

struct PrimalReport {
    int64_t passes = 0;       // passes made by this call
    int64_t steps = 0;        // coordinates looked at by this call
    int64_t moves = 0;        // coordinates that moved
    int64_t evaluations = 0;  // evaluations of D that the bound could not spare
    int64_t n_active = 0;     // coordinates not dropped by shrinking
    double objective = 0;
    double gap = 0;           // estimate, from the slopes seen during the pass
    double violation = 0;     // largest violation of the optimality conditions seen in the last pass
    bool looks_done = false;  // the estimate reached the target
};

// What outlives a call.
struct PrimalProgress {
    double penalty = 0;            // R(w) with the intercept's share
    double drop_below = infinity;  // shrinking: how far inside |g| < rho a zero coordinate must be
    double last_gap = infinity;    // estimate after the last pass over all coordinates
    bool shrunk = false;           // some coordinate is dropped
    int64_t shrunk_passes = 0;     // passes since all coordinates were looked at
    double whole_violation = infinity;
};

template <class Columns, class Loss>
class PrimalCD {
  public:
    PrimalCD(Columns X, Loss loss, PrimalPenalty penalty, std::vector<PrimalCoordinate>& coordinates,
             PrimalCoordinate& intercept, PrimalPenalty intercept_penalty, double intercept_scale,
             std::vector<Place>& places, std::vector<Slope>& slopes, PrimalProgress& progress)
        : X_(X),
          loss_(loss),
          penalty_(penalty),
          coordinates_(coordinates),
          intercept_(intercept),
          intercept_penalty_(intercept_penalty),
          intercept_scale_(intercept_scale),
          places_(places),
          slopes_(slopes),
          progress_(progress) {}

    PrimalReport run(Order& order, bool shrinking, const Budget& target) {
        const auto start = std::chrono::steady_clock::now();
        PrimalReport report;
        while (report.passes < target.max_passes) {
            const bool whole = !progress_.shrunk;
            one_pass(order, shrinking, report);
            ++report.passes;
            report.n_active = order.n_active();
            if (whole) {
                progress_.whole_violation = violation_;
                conclude(report, target);
                if (report.looks_done) return report;
            } else if (violation_ <= look_again * progress_.whole_violation ||
                       ++progress_.shrunk_passes * report.n_active >= 2 * int64_t(order.n_eligible())) {
                order.restore();  // the active coordinates came far enough: look at all of them again
                progress_.drop_below = infinity;
                progress_.shrunk = false;
                progress_.shrunk_passes = 0;
            }
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > target.max_seconds) break;
        }
        report.objective = objective();
        report.gap = progress_.last_gap;
        return report;
    }

  private:
    static constexpr double sigma = 0.01, beta = 0.5;
    static constexpr double look_again = 0.1;

    // What one look at a coordinate found, and did.
    struct Visit {
        double slope = 0;      // of the loss, before the step
        double violation = 0;  // of the optimality conditions, before the step
        double gain = 0;       // decrease of the objective by the step (of its quadratic model)
    };

    void one_pass(Order& order, bool shrinking, PrimalReport& report) {
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        const bool adaptive = order.adaptive(), may_drop = shrinking && penalty_.rho > 0;
        gap_ = largest_slope_ = violation_ = 0;
        for (int64_t k = 0; k < n; ++k) {
            prefetch_ahead(sequence, k, n);
            const uint32_t j = sequence[size_t(k)];
            PrimalCoordinate& at = coordinates_[j];
            const double w = at.w;
            const Visit seen = visit(X_[j], at, penalty_, report);
            largest_slope_ = std::max(largest_slope_, std::abs(seen.slope));
            violation_ = std::max(violation_, seen.violation);
            if (penalty_.ridge > 0) {
                // An adaptive pass shows coordinate j about p_j times.
                const double share = penalty_.gap(w, seen.slope);
                gap_ += adaptive ? share / order.preference(j) : share;
            }
            if (may_drop && w == 0 && at.w == 0 && std::abs(seen.slope) < penalty_.rho - progress_.drop_below)
                order.drop(j), progress_.shrunk = true;
            if (adaptive) order.report(j, seen.gain);
        }
        report.steps += n;
        if (intercept_scale_ != 0) visit_intercept(report);
        report.violation = violation_;
        progress_.drop_below = violation_ / double(places_.size());
    }

    void prefetch_ahead(const std::vector<uint32_t>& sequence, int64_t k, int64_t n) const {
        if (k + prefetch_pointers < n) {
            const uint32_t ahead = sequence[size_t(k + prefetch_pointers)];
            X_.prefetch_row_pointer(ahead);
            prefetch(&coordinates_[ahead]);
        }
        if (k + prefetch_data < n) X_.prefetch_row(sequence[size_t(k + prefetch_data)]);
    }

    template <class Row>
    Visit visit(const Row& x, PrimalCoordinate& at, const PrimalPenalty& penalty, PrimalReport& report) {
        const bool may_rest = at.w == 0 && penalty.rho > 0;  // most zero weights stay: spare the curvature
        Slope sums;
        if (may_rest)
            sums.u = slope_sum(x, slopes_.data());
        else
            sums = both_sums(x, slopes_.data());
        const double slope = sums.u + penalty.ridge * at.w;
        Visit seen{sums.u, penalty.violation(at.w, slope), 0.0};
        if (seen.violation == 0) return seen;
        if (may_rest) sums.h = curvature_sum(x, slopes_.data());
        const double most = penalty.ridge + loss_.most_curvature() * at.weighted_sqnorm;
        double curvature = sums.h + penalty.ridge;
        if (curvature <= 1e-8 * most) curvature = most;  // a flat piece of the loss: the model has no minimum there
        const double z = search(x, at, penalty, slope, curvature, most, report);
        if (z == 0) return seen;
        const double change = penalty.rho * (std::abs(at.w + z) - std::abs(at.w));
        seen.gain = std::max(0.0, -(slope * z + 0.5 * curvature * z * z + change));
        progress_.penalty += penalty.value(at.w + z) - penalty.value(at.w);
        at.w += z;
        ++report.moves;
        move_predictions(loss_, x, z, places_.data(), slopes_.data());
        return seen;
    }

    // The step: the first z = d, beta d, beta^2 d, ... that decreases the objective sufficiently (Eq. 12 for l2).
    template <class Row>
    double search(const Row& x, const PrimalCoordinate& at, const PrimalPenalty& penalty, double slope,
                  double curvature, double most, PrimalReport& report) const {
        const double d = penalty.direction(at.w, slope, curvature);
        const double promised = slope * d + penalty.rho * (std::abs(at.w + d) - std::abs(at.w));
        double lambda = 1;
        for (int halvings = 0; halvings < 60; ++halvings, lambda *= beta) {
            const double z = lambda * d;
            if (z == 0 || at.w + z == at.w) return 0;
            const double needed = penalty.rho == 0 ? -sigma * z * z : sigma * lambda * promised;
            const double kink = penalty.rho * (std::abs(at.w + z) - std::abs(at.w));
            const double growth = loss_.growth(std::abs(z) * at.reach);
            const double bend = std::min(0.5 * most, growth * curvature);
            if (slope * z + bend * z * z + kink <= needed) return z;  // Eq. 15: spares the evaluation
            ++report.evaluations;
            const double smooth = penalty.ridge * z * (at.w + 0.5 * z) + loss_change(loss_, x, z, places_.data());
            if (smooth + kink <= needed) return z;
        }
        return 0;
    }

    // A penalised intercept is one more coordinate; a free one is brought close to its minimum, for the certificate
    // takes it there anyway.
    void visit_intercept(PrimalReport& report) {
        const ConstantColumn ones{intercept_scale_, int64_t(places_.size())};
        const bool free = intercept_penalty_.ridge == 0 && intercept_penalty_.rho == 0;
        for (int repeat = 0; repeat < (free ? 10 : 1); ++repeat) {
            const double w = intercept_.w;
            const Visit seen = visit(ones, intercept_, intercept_penalty_, report);
            if (!free) {
                largest_slope_ = std::max(largest_slope_, std::abs(seen.slope));
                if (intercept_penalty_.ridge > 0) gap_ += intercept_penalty_.gap(w, seen.slope);
            }
            violation_ = std::max(violation_, repeat == 0 ? seen.violation : 0.0);
            if (seen.gain <= 1e-4 * gap_ || intercept_.w == w) break;
        }
    }

    double objective() const {
        double loss = 0;
        for (const Place& row : places_) loss += row.C * loss_.value(row.z, row.y);
        return progress_.penalty + loss;
    }

    // After a pass over all coordinates: the objective, the estimate of the gap, and whether it is small enough.
    void conclude(PrimalReport& report, const Budget& target) {
        report.objective = objective();
        if (penalty_.ridge == 0) gap_ = gap_with_scaled_dual(report.objective);
        report.gap = gap_;
        // Slopes are as seen before the steps, half a pass old on average: what the last pass gained, this one did too.
        const bool known = std::isfinite(progress_.last_gap) && progress_.last_gap > 0;
        const double now = known ? gap_ * std::min(1.0, gap_ / progress_.last_gap) : gap_;
        progress_.last_gap = gap_;
        report.looks_done = target.is_met(now, report.objective, report.objective - now);
    }

    // l1 alone: the dual point is scaled into |X^T v| <= rho.
    double gap_with_scaled_dual(double objective) const {
        const double scale = largest_slope_ > penalty_.rho ? penalty_.rho / largest_slope_ : 1.0;
        double conjugates = 0;
        for (size_t i = 0; i < places_.size(); ++i)
            if (places_[i].C > 0)
                conjugates += places_[i].C * loss_.conjugate(scale * slopes_[i].u / places_[i].C, places_[i].y);
        return std::max(0.0, objective + conjugates);
    }

    Columns X_;
    Loss loss_;
    PrimalPenalty penalty_;
    std::vector<PrimalCoordinate>& coordinates_;
    PrimalCoordinate& intercept_;
    PrimalPenalty intercept_penalty_;
    double intercept_scale_;
    std::vector<Place>& places_;
    std::vector<Slope>& slopes_;
    PrimalProgress& progress_;
    double gap_ = 0, largest_slope_ = 0, violation_ = 0;
};

}  // namespace widemargin
