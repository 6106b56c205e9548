// The one-variable problems of dual coordinate descent. In the signed dual v (w = X^T v) coordinate i minimises
//
//     q/2 (v' - v)^2 + z (v' - v) + C conjugate(-v' / C, y),      z = x_i . w + b,   q = |x_i|^2
//
// For every loss but the logistic one this is a quadratic with curvature q + delta, delta = 2 bend / C, a kink zone
// |v'| and bounds C lower <= v' <= C upper; for labels the bounds are those of y v'. See losses.hpp for the four
// numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/losses/losses.hpp"
#include "core/losses/soft_threshold.hpp"

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
    bool at_zero;      // it is held at zero; otherwise, if at all, at the far bound
    bool outward;      // a violation that asks |v| to grow
    double logit = 0;  // logistic loss only: log(alpha / (C - alpha))
};

template <class Loss>
struct QuadraticStep {
    Loss loss;

    static constexpr bool kinked = !Loss::label;  // a zone may be there

    double delta(double C) const { return Loss::smooth ? 2 * loss.bend() / C : 0.0; }

    Bounds bounds(double C, double y) const {
        const double lower = C * loss.lower(), upper = C * loss.upper();
        return !Loss::label || y > 0 ? Bounds{lower, upper} : Bounds{-upper, -lower};
    }

    Look look(const DualRow& row, double z) const {
        const Bounds box = bounds(row.C, row.y);
        const double g = z - row.y + delta(row.C) * row.v;
        double up = g, down = g;  // one-sided derivatives
        if constexpr (kinked) {
            up += row.v >= 0 ? loss.zone() : -loss.zone();
            down += row.v > 0 ? loss.zone() : -loss.zone();
        }
        const bool zero = row.v == 0;
        if (row.v <= box.lower) return {g, std::max(0.0, -up), up, zero, zero};
        if (row.v >= box.upper) return {g, std::max(0.0, down), -down, zero, zero};
        if (kinked && zero && loss.zone() > 0) return {g, std::max({0.0, -up, down}), std::min(up, -down), true, true};
        return {g, std::abs(up), 0, false, row.v * up <= 0};
    }

    // The minimiser of the one-variable problem.
    double solve(const DualRow& row, const Look& look) const {
        const Bounds box = bounds(row.C, row.y);
        if constexpr (kinked) {
            // The unconstrained minimiser, scaled by q.
            const double shrunk = soft_threshold(row.q * row.v - look.gradient, loss.zone());
            return std::clamp(shrunk / row.q, box.lower, box.upper);
        } else {
            return std::clamp(row.v - look.gradient / row.q, box.lower, box.upper);
        }
    }

    // How much the dual objective falls on the way from row.v to v'.
    double gain(const DualRow& row, const Look& look, double next) const {
        const double d = next - row.v;
        double gained = -d * (look.gradient + 0.5 * row.q * d);
        if constexpr (kinked) gained -= loss.zone() * (std::abs(next) - std::abs(row.v));
        return gained;
    }

    // This row's share of the duality gap, >= 0: C loss(z) + C conjugate(-v/C) + v z.
    double gap(const DualRow& row, double z, const Look&) const {
        return row.C * loss.value(z, row.y) + conjugate(row) + row.v * z;
    }

    double conjugate(const DualRow& row) const {
        return -row.v * row.y + 0.5 * delta(row.C) * row.v * row.v + loss.zone() * std::abs(row.v);
    }
};

// The logistic loss (Yu, Huang, Lin 2011): with alpha = y v in (0, C) and m = y z the step solves
//
//     F(t) = m + q (C sigma(t) - alpha) + t = 0,      alpha' = C sigma(t)
//
// in the logit t = log(alpha' / (C - alpha')). There F grows with slope between 1 and 1 + q C / 4, its root lies in an
// interval known beforehand, and alpha' keeps its relative precision next to 0, which is what the original's switch
// between alpha and C - alpha is for.
struct LogisticStep {
    Logistic loss;

    static double delta(double) { return 0; }

    Look look(const DualRow& row, double z) const {
        const double t = logit(row.y * row.v / row.C);
        const double gradient = row.y * z + t;
        return {row.y * gradient, std::abs(gradient), 0, false, gradient < 0, t};
    }

    double solve(const DualRow& row, const Look& look) const {
        const double alpha = row.y * row.v, m = row.y * look.gradient - look.logit;
        double lo = -(m + row.q * (row.C - alpha)), hi = -(m - row.q * alpha);
        double t = std::clamp(look.logit, lo, hi);
        for (int iteration = 0; iteration < 50; ++iteration) {
            const double p = sigma(t), F = m + row.q * (row.C * p - alpha) + t;
            (F > 0 ? hi : lo) = t;
            double next = t - F / (1 + row.q * row.C * p * (1 - p));
            if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
            const double moved = next - t;
            // So close, Newton's method errs by the square of this, and sigma(next) need not be computed: its expansion
            // around t errs by the cube, relative to itself.
            if (std::abs(moved) <= 1e-4)
                return row.y * row.C * p * (1 + (1 - p) * moved * (1 + 0.5 * (1 - 2 * p) * moved));
            t = next;
        }
        return row.y * row.C * sigma(t);
    }

    // The gradient falls from look.gradient to zero on the way: the trapezoid under it, unless the way is long; from
    // zero the gradient begins at minus infinity.
    double gain(const DualRow& row, const Look& look, double next) const {
        const double d = next - row.v;
        if (std::abs(look.gradient) <= 1) return -0.5 * look.gradient * d;
        const double m = look.gradient - row.y * look.logit;  // of v, not of alpha
        const double entropies = entropy(row.y * next / row.C) - entropy(row.y * row.v / row.C);
        return row.C * entropies - d * (m + 0.5 * row.q * d);
    }

    // Half the symmetrised Kullback-Leibler divergence between alpha / C and the probability that z gives: the share of
    // the gap up to third order, without a logarithm.
    double gap(const DualRow& row, double z, const Look& look) const {
        const double m = row.y * z, p = row.y * row.v / row.C;
        return 0.5 * row.C * (p - sigma(-m)) * (look.logit + m);
    }

  private:
    // -p log p - (1 - p) log(1 - p)
    static double entropy(double p) {
        const double q = std::clamp(p, 0.0, 1.0);
        return -(q > 0 ? q * std::log(q) : 0.0) - (q < 1 ? (1 - q) * std::log1p(-q) : 0.0);
    }
    static double sigma(double t) {
        if (t >= 0) return 1 / (1 + std::exp(-t));
        const double e = std::exp(t);
        return e / (1 + e);
    }
    static double logit(double p) {
        const double q = std::clamp(p, 1e-17, 1 - 0x1.0p-53);
        return std::log(q / (1 - q));
    }
};

template <class Loss>
QuadraticStep<Loss> dual_step(const Loss& loss) {
    return {loss};
}
inline LogisticStep dual_step(const Logistic& loss) {
    return {loss};
}

// Calls f with the step for a loss of labels.
template <class F>
decltype(auto) with_margin_step(const LossSpec& spec, F&& f) {
    return with_margin_loss(spec, [&](const auto& loss) -> decltype(auto) { return f(dual_step(loss)); });
}

// Calls f with the step for the loss described.
template <class F>
decltype(auto) with_dual_step(const LossSpec& spec, F&& f) {
    return with_loss(spec, [&](const auto& loss) -> decltype(auto) { return f(dual_step(loss)); });
}

}  // namespace widemargin
