// Passes of CMLS (Zhang and Oles 2001) for the squared hinge with penalty l2, as stated in Chang, Hsieh, Lin (2008),
// section 4.3 and Algorithm 6. A step divides the slope by a bound on the curvature within a trust region |z| <= Delta,
//   z = clip(-D'(0) / U, -Delta, Delta)   (Eq. 28),   Delta <- 2 |z| + epsilon   (Eq. 29),
// on a function whose flat side is first bent up by c: b = 1 - m where positive, c (1 - m) elsewhere.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/order.hpp"
#include "core/losses/primal_rows.hpp"

namespace widemargin {

struct CmlsCoordinate {
    double w = 0, delta = 10;
};

struct CmlsReport {
    int64_t steps = 0;
    double slope_squares = 0;  // sum of the squared slopes seen before each step: twice the gap, once c = 0
};

template <class Columns>
class CmlsPass {
  public:
    CmlsPass(Columns X, std::vector<CmlsCoordinate>& coordinates, CmlsCoordinate& intercept, double intercept_scale,
             double intercept_ridge, std::vector<Place>& places)
        : X_(X),
          coordinates_(coordinates),
          intercept_(intercept),
          intercept_scale_(intercept_scale),
          intercept_ridge_(intercept_ridge),
          places_(places) {}

    CmlsReport run(Order& order, double c, double epsilon) {
        CmlsReport report;
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) {
                const uint32_t ahead = sequence[size_t(k + prefetch_pointers)];
                X_.prefetch_row_pointer(ahead);
                prefetch(&coordinates_[ahead]);
            }
            if (k + prefetch_data < n) X_.prefetch_row(sequence[size_t(k + prefetch_data)]);
            const uint32_t j = sequence[size_t(k)];
            const double slope = step(X_[j], coordinates_[j], 1.0, c, epsilon);
            report.slope_squares += slope * slope;
        }
        if (intercept_scale_ != 0) {
            const double slope = step(ConstantColumn{intercept_scale_, int64_t(places_.size())}, intercept_,
                                      intercept_ridge_, c, epsilon);
            report.slope_squares += intercept_ridge_ * slope * slope;
        }
        report.steps = n;
        return report;
    }

  private:
    template <class Row>
    double step(const Row& x, CmlsCoordinate& at, double ridge, double c, double epsilon) {
        double slope = ridge * at.w, bound = ridge;
        x.for_each([&](int32_t i, double v) {
            const Place& row = places_[size_t(i)];
            const double b = 1 - row.y * row.z;
            slope -= 2 * row.C * row.y * v * (b > 0 ? b : c * c * b);
            // The bend leaves the curvature c^2 on the far side; with c = 0 this is the paper's beta_j.
            bound += 2 * row.C * v * v * (-b <= std::abs(at.delta * v) ? 1.0 : c * c);
        });
        if (!(bound > 0)) return slope;
        const double z = std::clamp(-slope / bound, -at.delta, at.delta);
        at.delta = 2 * std::abs(z) + epsilon;
        if (z == 0) return slope;
        at.w += z;
        x.for_each([&](int32_t i, double v) { places_[size_t(i)].z += z * v; });
        return slope;
    }

    Columns X_;
    std::vector<CmlsCoordinate>& coordinates_;
    CmlsCoordinate& intercept_;
    double intercept_scale_, intercept_ridge_;
    std::vector<Place>& places_;
};

}  // namespace widemargin
