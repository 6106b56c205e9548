// How far one call of passes may go.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widemargin {

struct Budget {
    double relative_gap;  // stop when `trust` times the estimated gap falls below this share of what it is measured by
    double at_zero;       // the objective at w = 0
    double trust;
    int64_t max_passes;
    double max_seconds;

    // The gap wanted; objective/certificate.py defines what it is measured by.
    double allowed(double primal, double dual) const {
        constexpr double least_gain = 1e-3, least_size = 1e-13;
        const double objective = std::abs(primal);
        const double size = std::min(objective, std::max(at_zero - dual, least_gain * objective));
        return relative_gap * (std::isfinite(at_zero) ? std::max(size, least_size * at_zero) : size);
    }

    // Whether an estimate of the gap, taken with a pinch of salt, is small enough.
    bool is_met(double gap, double primal, double dual) const { return trust * gap <= allowed(primal, dual); }
};

}  // namespace widemargin
