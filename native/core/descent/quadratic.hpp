// A small dense quadratic with an l1 penalty: built from selected rows of X, minimised by coordinate descent.
//
//   min over w   1/2 w^T H w - c . w + sum_j (rho_j |w_j| + bend_j/2 w_j^2)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses/soft_threshold.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

// H += sum over the listed rows of  weight_i x_i x_i^T, in the columns that `place` maps to 0 .. n - 1 (others: -1).
// A constant feature, where it is not zero, stands at the last place. Work: the squares of the rows' mapped entries.
template <class Rows>
void add_outer_products(const Rows& X, const std::vector<uint32_t>& list, const double* weights, const int32_t* place,
                        double constant, int64_t n, double* H) {
    std::vector<int32_t> at;
    std::vector<double> value;
    for (const uint32_t i : list) {
        at.clear(), value.clear();
        X[i].for_each([&](int32_t j, double x) {
            if (place[j] < 0) return;
            at.push_back(place[j]);
            value.push_back(x);
        });
        if (constant != 0) at.push_back(int32_t(n - 1)), value.push_back(constant);
        for (size_t a = 0; a < at.size(); ++a) {
            const double scaled = weights[i] * value[a];
            double* row = H + int64_t(at[a]) * n;
            for (size_t b = 0; b <= a; ++b) row[at[b]] += scaled * value[b];
        }
    }
}

// What stands below the diagonal is copied above it.
inline void mirror(int64_t n, double* H) {
    for (int64_t k = 0; k < n; ++k)
        for (int64_t l = 0; l < k; ++l) H[l * n + k] = H[k * n + l];
}

// Solves H x = right for a positive definite H (Cholesky, row by row, both overwritten): small systems on one thread,
// without waking a threaded BLAS. False where H is not positive definite.
inline bool cholesky_solve(int64_t n, double* H, double* right) {
    const auto dot = [](const double* a, const double* b, int64_t size) {
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < size; ++k) s += a[k] * b[k];
        return s;
    };
    for (int64_t i = 0; i < n; ++i) {
        double* row = H + i * n;
        for (int64_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, H + j * n, j)) / H[j * n + j];
        const double pivot = row[i] - dot(row, row, i);
        if (!(pivot > 0)) return false;
        row[i] = std::sqrt(pivot);
        right[i] = (right[i] - dot(row, right, i)) / row[i];
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        right[i] /= H[i * n + i];
        for (int64_t k = 0; k < i; ++k) right[k] -= right[i] * H[i * n + k];
    }
    return true;
}

// Passes over all coordinates until one gains less than `share` of what all gained; slope = H w - c is kept up to
// date. Returns the decrease of the objective.
inline double quadratic_passes(int64_t n, const double* H, const double* rho, const double* bend, double* slope,
                               double* w, double share, int64_t max_passes) {
    double total = 0;
    for (int64_t pass = 0; pass < max_passes; ++pass) {
        double gained = 0;
        for (int64_t j = 0; j < n; ++j) {
            const double curvature = H[j * n + j], at = w[j];
            const double beyond = soft_threshold(curvature * at - slope[j], rho[j]);
            const double whole = curvature + bend[j];
            const double next = whole > 0 ? beyond / whole : at, d = next - at;
            if (d == 0) continue;
            gained += rho[j] * (std::abs(at) - std::abs(next)) + 0.5 * bend[j] * (at * at - next * next) -
                      d * (slope[j] + 0.5 * curvature * d);
            w[j] = next;
            const double* row = H + j * n;
            for (int64_t k = 0; k < n; ++k) slope[k] += d * row[k];
        }
        total += gained;
        if (gained <= share * total) break;
    }
    return total;
}

}  // namespace widemargin
