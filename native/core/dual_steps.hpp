// The one-variable problems of dual coordinate descent. In the signed dual v (w = X^T v) coordinate i minimises
//
//     q/2 (v' - v)^2 + z (v' - v) + C conjugate(-v' / C, y),      z = x_i . w + b,   q = |x_i|^2
//
// For every loss but the logistic one this is a quadratic with curvature q + delta, a kink epsilon |v'| and bounds:
//
//     loss                          delta      epsilon   bounds on v'
//     hinge                         0          0         y v' in [0, C]
//     squared_hinge                 1/(2C)     0         y v' >= 0
//     modified_huber                1/(2C)     0         y v' in [0, 4C]
//     squared                       1/(2C)     0         none
//     epsilon_insensitive           0          epsilon   |v'| <= C
//     squared_epsilon_insensitive   1/(2C)     epsilon   none
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "core/losses.hpp"

namespace widemargin {

// A row as dual coordinate descent sees it, packed so that one cache line brings it.
struct DualRow {
    double v;             // the dual variable
    double q;             // curvature: |x|^2 + intercept_scaling^2 + delta
    double y;             // label or target
    double C;             // weight of this row's loss
    double private_part;  // squared length of the features that no other row has; see compact.hpp
};

struct Bounds {
    double lower, upper;
};

// What one look at a coordinate tells.
struct Look {
    double gradient;   // of the smooth part in v
    double violation;  // distance of the gradient from optimality, >= 0
    double slack;      // how firmly a bound or the kink holds the variable, > 0 only there
};

template <class Loss>
struct QuadraticStep {
    Loss loss;

    static constexpr bool curved = Loss::smooth;  // delta = 1/(2C)
    static double delta(double C) { return curved ? 0.5 / C : 0.0; }

    double epsilon() const {
        if constexpr (requires { loss.epsilon; }) return loss.epsilon;
        return 0;
    }
    static constexpr bool kinked = requires(Loss l) { l.epsilon; };

    static Bounds bounds(double C, double y) {
        if constexpr (std::is_same_v<Loss, Hinge>)
            return y > 0 ? Bounds{0, C} : Bounds{-C, 0};
        else if constexpr (std::is_same_v<Loss, SquaredHinge>)
            return y > 0 ? Bounds{0, infinity} : Bounds{-infinity, 0};
        else if constexpr (std::is_same_v<Loss, ModifiedHuber>)
            return y > 0 ? Bounds{0, 4 * C} : Bounds{-4 * C, 0};
        else if constexpr (std::is_same_v<Loss, EpsilonInsensitive>)
            return {-C, C};
        else
            return {-infinity, infinity};
    }

    Look look(const DualRow& row, double z) const {
        const Bounds box = bounds(row.C, row.y);
        const double g = z - row.y + delta(row.C) * row.v;
        double up = g, down = g;  // one-sided derivatives
        if constexpr (kinked) {
            up += row.v >= 0 ? epsilon() : -epsilon();
            down += row.v > 0 ? epsilon() : -epsilon();
        }
        if (row.v <= box.lower) return {g, std::max(0.0, -up), up};
        if (row.v >= box.upper) return {g, std::max(0.0, down), -down};
        if (kinked && row.v == 0) return {g, std::max({0.0, -up, down}), std::min(up, -down)};
        return {g, std::abs(up), 0};
    }

    // The minimiser of the one-variable problem.
    double solve(const DualRow& row, const Look& look) const {
        const Bounds box = bounds(row.C, row.y);
        if constexpr (kinked) {
            // Soft threshold of the unconstrained minimiser, scaled by q.
            const double s = row.q * row.v - look.gradient;
            const double shrunk = s > epsilon() ? s - epsilon() : s < -epsilon() ? s + epsilon() : 0.0;
            return std::clamp(shrunk / row.q, box.lower, box.upper);
        } else {
            return std::clamp(row.v - look.gradient / row.q, box.lower, box.upper);
        }
    }

    // How much the dual objective falls on the way from row.v to v'.
    double gain(const DualRow& row, const Look& look, double next) const {
        const double d = next - row.v;
        double gained = -d * (look.gradient + 0.5 * row.q * d);
        if constexpr (kinked) gained -= epsilon() * (std::abs(next) - std::abs(row.v));
        return gained;
    }

    // This row's share of the duality gap, >= 0: C loss(z) + C conjugate(-v/C) + v z.
    double gap(const DualRow& row, double z) const { return row.C * loss.value(z, row.y) + conjugate(row) + row.v * z; }

    double conjugate(const DualRow& row) const {
        return -row.v * row.y + 0.5 * delta(row.C) * row.v * row.v + epsilon() * std::abs(row.v);
    }
};

// Calls f with the step for the loss of that name.
template <class F>
decltype(auto) with_dual_step(std::string_view name, double epsilon, F&& f) {
    if (name == "hinge") return f(QuadraticStep<Hinge>{});
    if (name == "squared_hinge") return f(QuadraticStep<SquaredHinge>{});
    if (name == "modified_huber") return f(QuadraticStep<ModifiedHuber>{});
    if (name == "squared") return f(QuadraticStep<Squared>{});
    if (name == "epsilon_insensitive") return f(QuadraticStep<EpsilonInsensitive>{{epsilon}});
    if (name == "squared_epsilon_insensitive") return f(QuadraticStep<SquaredEpsilonInsensitive>{{epsilon}});
    throw std::invalid_argument("dual coordinate descent has no step for this loss");
}

}  // namespace widemargin
