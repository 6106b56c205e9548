// The hinge and the epsilon-insensitive loss with their corners rounded, for the method of multipliers: see
// solvers/sparse/multipliers.py for the formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widemargin {

struct Corner {
    int64_t n;
    const double *y, *v, *lower, *upper;  // targets, multipliers and their bounds
    double width, zone;                   // of the rounding; of the insensitive zone

    // u(z), the curvature -du/dz, and the sum of the rounded losses, which is returned.
    double at(const double* z, double* u, double* curvature) const {
        const double slack = zone / width, bend = 1 / width;
        // Each part is summed apart: together they cancel, row by row, what a line search must see.
        double pulled = 0, length = 0, moved = 0;
        for (int64_t i = 0; i < n; ++i) {
            const double r = y[i] - z[i], wanted = v[i] + r / width;
            const double m = std::copysign(std::max(0.0, std::abs(wanted) - slack), wanted);
            const bool inside = m > lower[i] && m < upper[i] && (m != 0 || zone == 0);
            u[i] = std::clamp(m, lower[i], upper[i]);
            curvature[i] = inside ? bend : 0.0;
            const double d = u[i] - v[i];
            pulled += u[i] * r;
            length += std::abs(u[i]);
            moved += d * d;
        }
        return pulled - zone * length - 0.5 * width * moved;
    }
};

}  // namespace widemargin
