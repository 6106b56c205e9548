// The losses: value, derivative and curvature in the prediction z, and the convex conjugate
//   conjugate(u, y) = sup over z of u z - value(z, y),   infinite outside its domain,
// from which every dual value and every certificate is made. All but the logistic loss are one formula,
//
//   loss(r) = max over a in [lower, upper] of  a r - bend a^2 - zone |a|
//
// in the residual r, which is 1 - y z for a label y = -1 or +1 and y - z for a target y. What tells them apart is data;
// only what inner loops must not ask twice, label or target and bent or not, is part of the type.
// src/widemargin/objective/losses.py states the same functions in NumPy; the tests hold the two against each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/losses/soft_threshold.hpp"

namespace widemargin {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// u just outside the domain by rounding alone, this share of the domain's width, is taken as on its border.
inline constexpr double domain_slack = 1e-12;

// A loss as it is told from outside.
struct LossSpec {
    bool logistic = false;
    bool classification = true;
    double bend = 0, zone = 0, lower = 0, upper = 1;

    static LossSpec of_logistic() { return {true, true, 0, 0, 0, 1}; }
    static LossSpec of_pieces(bool classification, double bend, double zone, double lower, double upper) {
        const LossSpec spec{false, classification, bend, zone, lower, upper};
        spec.check();
        return spec;
    }

    // 0 <= y v <= C is all that a dual variable knows: the hinge, whatever its slope.
    bool is_hinge() const { return !logistic && classification && bend == 0 && lower == 0; }

  private:
    void check() const {
        if (!(bend >= 0 && bend < infinity)) throw std::invalid_argument("a loss's bend must be finite and >= 0");
        if (!(zone >= 0 && zone < infinity)) throw std::invalid_argument("a loss's zone must be finite and >= 0");
        if (!(lower <= 0 && upper >= 0 && lower < upper))
            throw std::invalid_argument("a loss's bounds must enclose 0, lower < upper");
        if (bend == 0 && !(std::isfinite(lower) && std::isfinite(upper)))
            throw std::invalid_argument("a loss without a bend needs finite bounds");
        if (classification && zone > 0) throw std::invalid_argument("a loss of labels has no zone");
    }
};

// A loss made of parabolas (bent) or of straight lines alone.
template <bool Label, bool Bent>
class Piecewise {
  public:
    static constexpr bool smooth = Bent;
    static constexpr bool label = Label;

    explicit Piecewise(const LossSpec& spec)
        : bend_(spec.bend),
          zone_(spec.zone),
          lower_(spec.lower),
          upper_(spec.upper),
          steepness_(Bent ? 0.5 / spec.bend : 0),
          slack_(domain_slack * (std::isfinite(spec.upper - spec.lower) ? spec.upper - spec.lower : 1.0)) {}

    double bend() const { return bend_; }
    double zone() const { return Label ? 0.0 : zone_; }
    double lower() const { return lower_; }
    double upper() const { return upper_; }

    double value(double z, double y) const {
        const double s = beyond_zone(residual(z, y));
        if constexpr (!Bent) return std::max(upper_ * s, lower_ * s);
        const double a = share(s);
        return a * (s - bend_ * a);
    }
    double derivative(double z, double y) const { return -side(y) * share(beyond_zone(residual(z, y))); }
    double curvature(double z, double y) const {
        if constexpr (!Bent) return 0;
        const double s = beyond_zone(residual(z, y)), wanted = steepness_ * s;
        const double slanted = (wanted > lower_ ? steepness_ : 0.0) - (wanted > upper_ ? steepness_ : 0.0);
        return Label || s != 0 || zone_ == 0 ? slanted : 0.0;
    }
    double conjugate(double u, double y) const {
        const double a = -side(y) * u;
        if (a < lower_ - slack_ || a > upper_ + slack_) return infinity;
        const double linear = a * ((Bent ? bend_ * a : 0.0) - (Label ? 1.0 : y));
        return Label ? linear : linear + zone_ * std::abs(a);
    }

    // The largest second derivative.
    double most_curvature() const { return steepness_; }
    // Nothing is known of the curvature some way off: it may jump from zero to its largest.
    static double growth(double) { return infinity; }

  private:
    static double side(double y) { return Label ? y : 1.0; }
    static double residual(double z, double y) { return Label ? 1 - y * z : y - z; }
    double beyond_zone(double r) const { return Label ? r : soft_threshold(r, zone_); }

    // The maximiser a, given the residual without its zone.
    double share(double s) const {
        if constexpr (Bent) return std::min(std::max(steepness_ * s, lower_), upper_);
        return upper_ * double(s > 0) + lower_ * double(s < 0);  // no branch: signs are hard to foresee
    }

    double bend_, zone_, lower_, upper_;
    double steepness_;  // of the slanted pieces of the derivative: 1 / (2 bend)
    double slack_;
};

// log(1 + exp(-y z)), never through an exponential that overflows
struct Logistic {
    static constexpr bool smooth = true;
    static constexpr bool label = true;
    double value(double z, double y) const {
        const double m = y * z;
        return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m;
    }
    double derivative(double z, double y) const {
        const double m = y * z;
        if (m > 0) {
            const double e = std::exp(-m);
            return -y * (e / (1 + e));
        }
        return -y / (1 + std::exp(m));
    }
    double curvature(double z, double y) const {
        const double e = std::exp(-std::abs(y * z));
        return e / ((1 + e) * (1 + e));
    }
    double conjugate(double u, double y) const {
        const double a = -y * u;
        if (a < -domain_slack || a > 1 + domain_slack) return infinity;
        // log1p: close to a = 0, where most rows of a good model lie, 1 - a has lost the digits that count.
        return (a > 0 ? a * std::log(a) : 0.0) + (a < 1 ? (1 - a) * std::log1p(-a) : 0.0);
    }

    static double most_curvature() { return 0.25; }
    // While no prediction moves by more than a, the loss rises above its tangent by at most growth(a) * curvature *
    // move^2: the curvature itself grows by a factor e^a at most.
    static double growth(double a) { return a < 1e-4 ? 0.5 + 0.2 * a : (std::expm1(a) - a) / (a * a); }
};

// Calls f with a loss of labels.
template <class F>
decltype(auto) with_margin_loss(const LossSpec& spec, F&& f) {
    if (!spec.classification) throw std::invalid_argument("this loss is not a function of the margin alone");
    if (spec.logistic) return f(Logistic{});
    return spec.bend > 0 ? f(Piecewise<true, true>(spec)) : f(Piecewise<true, false>(spec));
}

// Calls f with the loss described: the one place where a description becomes a type.
template <class F>
decltype(auto) with_loss(const LossSpec& spec, F&& f) {
    if (spec.classification) return with_margin_loss(spec, std::forward<F>(f));
    return spec.bend > 0 ? f(Piecewise<false, true>(spec)) : f(Piecewise<false, false>(spec));
}

}  // namespace widemargin
