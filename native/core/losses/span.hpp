// The losses of predictions in a span, z = sum_k a_k z_k: value, gradient and Hessian in a, in O(rows) and without the
// data. What a search for the best combination of a few known points asks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/losses/losses.hpp"
#include "core/losses/ray.hpp"

namespace widemargin {

inline constexpr int most_in_span = 4;

// Rows taken together: their slopes and curvatures first, then the sums of each kind, several rows at once.
inline constexpr int64_t rows_in_chunk = 128;

template <class Loss, int K>
class SpanPass {
  public:
    SpanPass(const Loss& loss, const double* const* z, const double* y, const double* C, const double* a)
        : loss_(loss), z_(z), y_(y), C_(C), a_(a) {}

    void add(int64_t first, int64_t n) {
        double z[rows_in_chunk], u[rows_in_chunk], h[rows_in_chunk];
        for (int64_t i = 0; i < n; ++i) z[i] = 0;
        for (int k = 0; k < K; ++k) {
            const double* at = z_[k] + first;
            for (int64_t i = 0; i < n; ++i) z[i] += a_[k] * at[i];
        }
        for (int64_t i = 0; i < n; ++i) {
            const double C = C_[first + i];
            const auto [derivative, curvature] = losses_.add(loss_, z[i], y_[first + i], C);
            u[i] = C * derivative;
            h[i] = C * curvature;
        }
        for (int k = 0; k < K; ++k) {
            const double* at = z_[k] + first;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < n; ++i) sum += u[i] * at[i];
            gradient_[k] += sum;
            for (int64_t i = 0; i < n; ++i) z[i] = h[i] * at[i];
            for (int l = 0; l <= k; ++l) {
                const double* other = z_[l] + first;
                double bend = 0;
#pragma omp simd reduction(+ : bend)
                for (int64_t i = 0; i < n; ++i) bend += z[i] * other[i];
                hessian_[k * K + l] += bend;
            }
        }
    }

    double tell(double* gradient, double* hessian) const {
        for (int k = 0; k < K; ++k) {
            gradient[k] = gradient_[k];
            for (int l = 0; l <= k; ++l) hessian[k * K + l] = hessian[l * K + k] = hessian_[k * K + l];
        }
        return losses_.total();
    }

  private:
    const Loss& loss_;
    const double* const* z_;
    const double *y_, *C_, *a_;
    LossTotal<Loss> losses_;
    double gradient_[K] = {}, hessian_[K * K] = {};
};

template <class Loss, int K>
double span_pass(const Loss& loss, int64_t n, const double* const* z, const double* y, const double* C, const double* a,
                 double* gradient, double* hessian) {
    SpanPass<Loss, K> pass(loss, z, y, C, a);
    for (int64_t first = 0; first < n; first += rows_in_chunk) pass.add(first, std::min(rows_in_chunk, n - first));
    return pass.tell(gradient, hessian);
}

template <class Loss>
double span_pass(const Loss& loss, int K, int64_t n, const double* const* z, const double* y, const double* C,
                 const double* a, double* gradient, double* hessian) {
    switch (K) {
        case 1:
            return span_pass<Loss, 1>(loss, n, z, y, C, a, gradient, hessian);
        case 2:
            return span_pass<Loss, 2>(loss, n, z, y, C, a, gradient, hessian);
        case 3:
            return span_pass<Loss, 3>(loss, n, z, y, C, a, gradient, hessian);
        default:
            return span_pass<Loss, 4>(loss, n, z, y, C, a, gradient, hessian);
    }
}

}  // namespace widemargin
