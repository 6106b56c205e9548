// The exact minimum of the hinge objective along a line, in O(m log m) without touching the data (Franc and Sonnenburg,
// "Optimized Cutting Plane Algorithm for Support Vector Machines", 2008, section 3.1): between the points where a row's
// margin crosses one, the objective is a quadratic, and each crossing raises the slope by C_i |change of margin i|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace widemargin {

// argmin over k >= 0 of  1/2 |w + k d|^2 + sum_i C_i max(0, 1 - y_i (z_i + k e_i)),  slope = w . d, curvature = d . d.
inline double hinge_line_search(int64_t n, const double* z, const double* e, const double* y, const double* C,
                                double slope, double curvature) {
    struct Crossing {
        double at, rise;
    };
    std::vector<Crossing> crossings;
    for (int64_t i = 0; i < n; ++i) {
        const double loss = 1 - y[i] * z[i], change = -y[i] * e[i];
        if (change == 0 || !(C[i] > 0)) continue;
        const bool active = loss > 0 || (loss == 0 && change > 0);
        if (active) slope += C[i] * change;
        if (active != (change > 0)) crossings.push_back({-loss / change, C[i] * std::abs(change)});
    }
    if (slope >= 0) return 0;
    std::sort(crossings.begin(), crossings.end(), [](const auto& p, const auto& q) { return p.at < q.at; });
    double k = 0;
    for (const auto& [at, rise] : crossings) {
        if (slope + curvature * (at - k) >= 0) break;
        slope += curvature * (at - k) + rise;
        k = at;
        if (slope >= 0) return k;
    }
    return curvature > 0 ? k - slope / curvature : k;
}

}  // namespace widemargin
