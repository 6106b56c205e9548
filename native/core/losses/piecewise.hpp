// Exact line search for sums of clipped ramps. With x_i = r_i + shift, where r_i is the i-th residual on the ray,
//   slope(delta) = slope + curvature delta + sum_i k_i d_i clip(x_i + delta d_i, lo, hi)
// is continuous, piecewise linear and never decreasing; its zero is the minimum. It bends where a term reaches lo or
// hi: those points are taken in ascending order from a heap until the slope crosses zero, O(m log m) at most. Keerthi
// and DeCoste (2005), equations (14)-(18); with two bounds also section 6, three index sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace widemargin {

struct RampTerms {
    int64_t n;
    const double *r, *d, *k;  // residuals, their change per unit step, curvatures
    double shift, lo, hi;

    // Whether term i is on the slanted part just after its present position x.
    bool slanted(double x, double d_i) const { return d_i > 0 ? lo <= x && x < hi : lo < x && x <= hi; }
};

struct RampSlope {
    double value, curvature;
};

// Slope and right-hand curvature at delta, summed afresh.
inline RampSlope ramp_slope(const RampTerms& terms, double slope, double curvature, double delta) {
    RampSlope sum{slope + curvature * delta, curvature};
    for (int64_t i = 0; i < terms.n; ++i) {
        const double d = terms.d[i], k = terms.k[i];
        if (d == 0 || k == 0) continue;
        const double x = terms.r[i] + terms.shift + delta * d;
        sum.value += k * d * std::clamp(x, terms.lo, terms.hi);
        if (terms.slanted(x, d)) sum.curvature += k * d * d;
    }
    return sum;
}

struct Bend {
    double delta, change;  // where, and what the curvature gains there
    friend bool operator<(const Bend& a, const Bend& b) { return a.delta > b.delta; }  // the heap's top is the nearest
};

inline std::vector<Bend> collect_bends(const RampTerms& terms) {
    std::vector<Bend> bends;
    for (int64_t i = 0; i < terms.n; ++i) {
        const double d = terms.d[i], change = terms.k[i] * d * d;
        if (!(change > 0)) continue;
        const double x = terms.r[i] + terms.shift;
        const double enters = ((d > 0 ? terms.lo : terms.hi) - x) / d, leaves = ((d > 0 ? terms.hi : terms.lo) - x) / d;
        if (enters > 0 && enters < std::numeric_limits<double>::infinity()) bends.push_back({enters, change});
        if (leaves > 0 && leaves < std::numeric_limits<double>::infinity()) bends.push_back({leaves, -change});
    }
    std::make_heap(bends.begin(), bends.end());
    return bends;
}

// The smallest delta >= 0 that minimises; infinite where the slope stays below zero for ever.
inline double ramp_line_search(const RampTerms& terms, double slope, double curvature) {
    constexpr double never = std::numeric_limits<double>::infinity();
    RampSlope now = ramp_slope(terms, slope, curvature, 0);
    if (!(now.value < 0)) return 0;
    auto bends = collect_bends(terms);
    double left = 0, right = never;
    while (!bends.empty()) {
        std::pop_heap(bends.begin(), bends.end());
        const Bend bend = bends.back();
        bends.pop_back();
        const double reached = now.value + now.curvature * (bend.delta - left);
        if (reached >= 0) {
            right = bend.delta;
            break;
        }
        now = {reached, now.curvature + bend.change};
        left = bend.delta;
    }
    // Sums carried over many bends have rounded: the last interval is entered with fresh ones.
    double delta = now.curvature > 0 ? std::clamp(left - now.value / now.curvature, left, right) : right;
    for (int polish = 0; polish < 2 && delta < never; ++polish) {
        const RampSlope fresh = ramp_slope(terms, slope, curvature, delta);
        if (!(fresh.curvature > 0)) break;
        delta = std::clamp(delta - fresh.value / fresh.curvature, left, right);
    }
    return delta;
}

}  // namespace widemargin
