// Weights of (feature, label): all pairs, features x labels, or those pairs alone that were observed, feature by
// feature. A token's row is multiplied with either, and added to either.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/passes/class_rows.hpp"

namespace widemargin {

// Shares of a label below this move no weight: they are the rounding of probabilities.
inline constexpr double least_share = 1e-15;

struct AllPairs {
    double* w;
    int64_t n_labels;

    template <class Row>
    void scores(const Row& x, double* z) const {
        std::fill_n(z, n_labels, 0.0);
        over_classes(n_labels, [&]<int Width>(int64_t c) { add_scores<Width>(x, w + c, n_labels, z + c); });
    }

    // w += x u^T; returns by how much |w|^2 grew: additions one after another change it by a (2 w + a) each.
    template <class Row>
    double add(const Row& x, const double* u) const {
        double grown = 0;
        over_classes(n_labels, [&]<int Width>(int64_t c) { grown += add_some<Width>(x, u + c, w + c, n_labels); });
        return grown;
    }

    template <class Row>
    void add_to_label(const Row& x, int64_t label, double u) const {
        x.for_each([&](int32_t j, double v) { w[int64_t(j) * n_labels + label] += v * u; });
    }

  private:
    template <int Width, class Row>
    static double add_some(const Row& x, const double* u, double* w, int64_t stride) {
        double share[Width], grown[Width] = {}, largest = 0, sum = 0;
        for (int c = 0; c < Width; ++c) share[c] = u[c], largest = std::max(largest, share[c] < 0 ? -u[c] : u[c]);
        if (largest < least_share) return 0;
        x.for_each([&](int32_t j, double v) {
            double* at = w + int64_t(j) * stride;
            for (int c = 0; c < Width; ++c) {
                const double step = v * share[c];
                grown[c] += step * (2 * at[c] + step);
                at[c] += step;
            }
        });
        for (int c = 0; c < Width; ++c) sum += grown[c];
        return sum;
    }
};

struct SomePairs {
    double* w;
    int64_t n_labels;
    const int64_t* start;   // of every feature's pairs, and one more
    const int32_t* labels;  // of the pairs, ascending for each feature

    template <class Row>
    void scores(const Row& x, double* z) const {
        std::fill_n(z, n_labels, 0.0);
        x.for_each([&](int32_t j, double v) {
            for (int64_t p = start[j]; p < start[j + 1]; ++p) z[labels[p]] += v * w[p];
        });
    }

    template <class Row>
    double add(const Row& x, const double* u) const {
        double grown = 0;
        x.for_each([&](int32_t j, double v) {
            for (int64_t p = start[j]; p < start[j + 1]; ++p) {
                const double step = v * u[labels[p]];
                grown += step * (2 * w[p] + step);
                w[p] += step;
            }
        });
        return grown;
    }

    template <class Row>
    void add_to_label(const Row& x, int64_t label, double u) const {
        x.for_each([&](int32_t j, double v) {
            const int32_t* last = labels + start[j + 1];
            const int32_t* found = std::lower_bound(labels + start[j], last, int32_t(label));
            if (found != last && *found == label) w[found - labels] += v * u;
        });
    }
};

// The same of the scores of neighbouring labels, of which those that may not be used stay zero.
struct EdgeTable {
    double* w;
    const double* used;  // 1 or 0 for each pair
    int64_t n_pairs;

    // w += a (from - to) where pairs are used; returns by how much |w|^2 grew.
    double add(double a, const double* from, const double* to) const {
        double grown = 0;
        for (int64_t p = 0; p < n_pairs; ++p) {
            const double step = a * used[p] * (from[p] - to[p]);
            grown += step * (2 * w[p] + step);
            w[p] += step;
        }
        return grown;
    }
};

}  // namespace widemargin
