// The losses, one small struct each: value, derivative and curvature in the prediction z, and the convex conjugate
//   conjugate(u, y) = sup over z of u z - value(z, y),   infinite outside its domain,
// from which every dual value and every certificate is made. For classification y is -1 or +1.
// src/widemargin/objective/losses.py states the same functions in NumPy; the tests hold the two against each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace widemargin {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// u just outside the domain by rounding alone is taken as on its border.
inline constexpr double domain_slack = 1e-12;

// max(0, 1 - y z)
struct Hinge {
    static constexpr bool smooth = false;
    double value(double z, double y) const { return std::max(0.0, 1 - y * z); }
    double derivative(double z, double y) const { return y * z < 1 ? -y : 0.0; }
    double curvature(double, double) const { return 0; }
    double conjugate(double u, double y) const {
        const double a = -y * u;
        return a < -domain_slack || a > 1 + domain_slack ? infinity : -a;
    }
};

// max(0, 1 - y z)^2
struct SquaredHinge {
    static constexpr bool smooth = true;
    double value(double z, double y) const {
        const double xi = std::max(0.0, 1 - y * z);
        return xi * xi;
    }
    double derivative(double z, double y) const { return -2 * y * std::max(0.0, 1 - y * z); }
    double curvature(double z, double y) const { return y * z < 1 ? 2.0 : 0.0; }
    double conjugate(double u, double y) const {
        const double a = -y * u;
        return a < -domain_slack ? infinity : a * (0.25 * a - 1);
    }
};

// log(1 + exp(-y z)), never through an exponential that overflows
struct Logistic {
    static constexpr bool smooth = true;
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
};

// max(0, 1 - m)^2 while m = y z >= -1, the line -4 m below: a squared hinge that forgives outliers
struct ModifiedHuber {
    static constexpr bool smooth = true;
    double value(double z, double y) const {
        const double m = y * z;
        if (m < -1) return -4 * m;
        const double xi = std::max(0.0, 1 - m);
        return xi * xi;
    }
    double derivative(double z, double y) const { return -2 * y * std::clamp(1 - y * z, 0.0, 2.0); }
    double curvature(double z, double y) const {
        const double m = y * z;
        return m < 1 && m >= -1 ? 2.0 : 0.0;
    }
    double conjugate(double u, double y) const {
        const double a = -y * u;
        return a < -domain_slack || a > 4 + 4 * domain_slack ? infinity : a * (0.25 * a - 1);
    }
};

// (z - y)^2
struct Squared {
    static constexpr bool smooth = true;
    double value(double z, double y) const { return (z - y) * (z - y); }
    double derivative(double z, double y) const { return 2 * (z - y); }
    double curvature(double, double) const { return 2; }
    double conjugate(double u, double y) const { return u * (y + 0.25 * u); }
};

// max(0, |z - y| - epsilon)
struct EpsilonInsensitive {
    static constexpr bool smooth = false;
    double epsilon;
    double value(double z, double y) const { return std::max(0.0, std::abs(z - y) - epsilon); }
    double derivative(double z, double y) const {
        const double r = z - y;
        return r > epsilon ? 1.0 : r < -epsilon ? -1.0 : 0.0;
    }
    double curvature(double, double) const { return 0; }
    double conjugate(double u, double y) const {
        return std::abs(u) > 1 + domain_slack ? infinity : u * y + epsilon * std::abs(u);
    }
};

// max(0, |z - y| - epsilon)^2
struct SquaredEpsilonInsensitive {
    static constexpr bool smooth = true;
    double epsilon;
    double value(double z, double y) const {
        const double xi = std::max(0.0, std::abs(z - y) - epsilon);
        return xi * xi;
    }
    double derivative(double z, double y) const {
        const double r = z - y;
        return 2 * std::copysign(std::max(0.0, std::abs(r) - epsilon), r);
    }
    double curvature(double z, double y) const { return std::abs(z - y) > epsilon ? 2.0 : 0.0; }
    double conjugate(double u, double y) const { return u * (y + 0.25 * u) + epsilon * std::abs(u); }
};

// Calls f with the loss of that name: the one place where a name becomes a type.
template <class F>
decltype(auto) with_loss(std::string_view name, double epsilon, F&& f) {
    if (name == "hinge") return f(Hinge{});
    if (name == "squared_hinge") return f(SquaredHinge{});
    if (name == "logistic") return f(Logistic{});
    if (name == "modified_huber") return f(ModifiedHuber{});
    if (name == "squared") return f(Squared{});
    if (name == "epsilon_insensitive") return f(EpsilonInsensitive{epsilon});
    if (name == "squared_epsilon_insensitive") return f(SquaredEpsilonInsensitive{epsilon});
    throw std::invalid_argument("unknown loss");
}

}  // namespace widemargin
