// What the primal coordinate methods keep per row and ask per column. A column is visited through two sums over its
// entries, of the rows' slopes and curvatures, so these stand packed side by side; a row's other facts are read only
// when a coordinate moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/losses/losses.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

// u = C loss'(z) and h = C loss''(z) of one row.
struct Slope {
    double u = 0, h = 0;
};

// Where one row stands: its prediction z, e = exp(-y z) (logistic loss only), label and weight.
struct Place {
    double z = 0, e = 1, y = 0, C = 0;
};

// A column of ones times `value`: what stands behind an intercept.
struct ConstantColumn {
    double value;
    int64_t size;

    template <class F>
    void for_each(F&& f) const {
        for (int64_t k = 0; k < size; ++k) f(int32_t(k), value);
    }

    template <class F>
    double sum(F&& f) const {
        double s = 0;
        for (int64_t k = 0; k < size; ++k) s += f(int32_t(k), value);
        return s;
    }
};

template <class Row>
inline constexpr bool one_value = std::is_same_v<Row, UniformRow> || std::is_same_v<Row, ConstantColumn>;

template <class Loss>
Slope slope_at(const Loss& loss, Place& row) {
    return {row.C * loss.derivative(row.z, row.y), row.C * loss.curvature(row.z, row.y)};
}

// Predictions beyond this have exponentials near the ends of what a double holds (e^709).
inline constexpr double far_out = 500;

inline Slope slope_from_exponential(const Place& row) {
    const double t = 1 / (1 + row.e), p = row.e * t;
    return {-row.C * row.y * p, row.C * p * t};
}

inline Slope slope_at(const Logistic&, Place& row) {
    row.e = std::exp(std::clamp(-row.y * row.z, -600.0, 600.0));
    return slope_from_exponential(row);
}

// Moves every prediction of the column by d x. One exponential serves a whole column that holds one value (section 6.2
// of Chang, Hsieh, Lin 2008): exp(-y (z + d x)) = exp(-y z) exp(-d x)^y.
template <class Loss, class Row>
void move_predictions(const Loss& loss, const Row& x, double d, Place* places, Slope* slopes) {
    if constexpr (std::is_same_v<Loss, Logistic> && one_value<Row>) {
        const double move = d * x.value;
        const double down = std::exp(-std::clamp(move, -far_out, far_out)), up = 1 / down;
        const bool far_move = !(std::abs(move) <= far_out);
        x.for_each([&](int32_t i, double v) {
            Place& row = places[i];
            const double before = row.z;
            row.z += d * v;
            // So far out the kept exponential was cut, or its product would leave the range: it comes from z again.
            if (far_move || !(std::abs(before) <= far_out && std::abs(row.z) <= far_out)) {
                slopes[i] = slope_at(loss, row);
                return;
            }
            row.e *= row.y > 0 ? down : up;
            slopes[i] = slope_from_exponential(row);
        });
    } else {
        x.for_each([&](int32_t i, double v) {
            Place& row = places[i];
            row.z += d * v;
            slopes[i] = slope_at(loss, row);
        });
    }
}

template <class Row>
double slope_sum(const Row& x, const Slope* slopes) {
    return x.sum([=](int32_t i, double v) { return v * slopes[i].u; });
}

template <class Row>
double curvature_sum(const Row& x, const Slope* slopes) {
    return x.sum([=](int32_t i, double v) { return v * v * slopes[i].h; });
}

// The sums of slopes and of curvatures at once: g = sum u x and h = sum h x^2.
template <class Row>
Slope both_sums(const Row& x, const Slope* slopes) {
    Slope s;
    x.for_each([&](int32_t i, double v) {
        s.u += v * slopes[i].u;
        s.h += v * v * slopes[i].h;
    });
    return s;
}

// How much the loss changes when the column's coordinate moves by d.
template <class Loss, class Row>
double loss_change(const Loss& loss, const Row& x, double d, const Place* places) {
    return x.sum([&](int32_t i, double v) {
        const Place& row = places[i];
        return row.C * (loss.value(row.z + d * v, row.y) - loss.value(row.z, row.y));
    });
}

}  // namespace widemargin
