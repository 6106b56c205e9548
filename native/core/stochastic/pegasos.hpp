// Pegasos with a subsample of K rows per step (Shalev-Shwartz, Singer, Srebro 2007), for the hinge. Step k draws A_k
// and
//
//     w <- (1 - 1/k) w + 1/(lambda k K) sum over i in A_k with margin below 1 of s_i y_i x_i
//     w <- min(1, 1 / (sqrt(lambda) |w|)) w                               lambda = 1 / sum_i C_i,  s_i = C_i / mean(C)
//
// w = scale a, so that shrinking and projecting cost nothing. The mean of the iterates is kept by
// sum_j scale_j a_j = S a - h,  S = sum_j scale_j,  where a change d of a adds S d (the S before it) to h. The first
// steps are long and each is projected back, so that the scale falls by a factor per step, below what a double holds,
// while a grows and S a - h loses its digits; before that the scale is multiplied into a and S a into h.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/system/rng.hpp"

namespace widemargin {

struct PegasosRow {
    double y;         // label
    double step;      // s_i
    double q;         // |x_i|^2, with the constant feature
    uint32_t errors;  // how often row i was drawn with margin below 1
    uint32_t drawn;   // how often it was drawn
};

struct PegasosState {
    std::vector<double> a, h;
    double a_bias = 0, h_bias = 0;  // the constant feature's value times its component
    double rho_squared = 0, lambda = 1, mean_C = 1;
    double scale = 1, sqnorm = 0;  // w = scale a;  |a|^2
    double averaged = 0;           // S
    int64_t step = 0;              // k
    int64_t averaged_since = 0;    // the step before the first one in the mean
    std::vector<PegasosRow> rows;
    std::vector<uint32_t> counted;  // the rows with weight
};

struct PegasosReport {
    int64_t steps = 0;  // made by this call
    double loss = 0;    // sum of C_i loss_i over one pass' worth of drawn rows, each as it was when drawn
    double sqnorm = 0;  // |w|^2
};

template <class Rows>
class Pegasos {
  public:
    Pegasos(Rows X, PegasosState& state, Rng& rng) : X_(X), s_(state), rng_(rng) {}

    // As many steps as draw about one pass' worth of rows.
    PegasosReport one_pass(int64_t batch) {
        const auto m = int64_t(s_.counted.size());
        const int64_t n_steps = std::max<int64_t>(1, m / batch);
        PegasosReport report;
        drawn_.assign(size_t(batch * n_steps), 0);
        for (auto& i : drawn_) i = s_.counted[rng_.below(uint32_t(m))];
        double loss = 0;
        for (int64_t k = 0; k < n_steps; ++k) loss += step(k * batch, batch);
        report.steps = n_steps;
        report.loss = s_.mean_C * loss * double(m) / double(drawn_.size());
        report.sqnorm = s_.sqnorm * s_.scale * s_.scale;
        return report;
    }

  private:
    static constexpr double least_scale = 1e-6;

    double step(int64_t first, int64_t batch) {
        double loss = 0;
        below_.clear();
        for (int64_t k = first; k < first + batch; ++k) {
            ask_ahead(k);
            const uint32_t i = drawn_[size_t(k)];
            PegasosRow& row = s_.rows[i];
            ++row.drawn;
            const double margin = s_.scale * product(i);
            if (margin < 1) {
                ++row.errors;
                loss += row.step * (1 - margin);
                below_.push_back(i);
            }
        }
        ++s_.step;
        s_.scale = s_.step == 1 ? 1.0 : s_.scale * (1 - 1 / double(s_.step));
        for (const uint32_t i : below_) pull(i, s_.rows[i].step / (s_.lambda * double(s_.step * batch) * s_.scale));
        const double longest = 1 / s_.lambda, found = s_.sqnorm * s_.scale * s_.scale;
        if (found > longest) s_.scale *= std::sqrt(longest / found);
        if (s_.scale < least_scale) fold_scale();
        s_.averaged += s_.scale;
        return loss;
    }

    // y_i (x_i . a): the margin before scaling
    double product(uint32_t i) const { return s_.rows[i].y * (X_[i].dot(s_.a.data()) + s_.a_bias); }

    void pull(uint32_t i, double d) {
        const PegasosRow& row = s_.rows[i];
        s_.sqnorm += d * (2 * product(i) + d * row.q);
        X_[i].axpy(row.y * d, s_.a.data());
        X_[i].axpy(row.y * d * s_.averaged, s_.h.data());
        s_.a_bias += s_.rho_squared * row.y * d;
        s_.h_bias += s_.rho_squared * row.y * d * s_.averaged;
    }

    // Multiplies the scale into a and S a into h: w and the sum of iterates stay what they were, with scale 1 and S =
    // 0.
    void fold_scale() {
        for (size_t j = 0; j < s_.a.size(); ++j) {
            s_.h[j] -= s_.averaged * s_.a[j];
            s_.a[j] *= s_.scale;
        }
        s_.h_bias -= s_.averaged * s_.a_bias;
        s_.a_bias *= s_.scale;
        s_.sqnorm *= s_.scale * s_.scale;
        s_.averaged = 0;
        s_.scale = 1;
    }

    void ask_ahead(int64_t k) const {
        if (k + prefetch_pointers < int64_t(drawn_.size())) {
            const uint32_t ahead = drawn_[size_t(k + prefetch_pointers)];
            X_.prefetch_row_pointer(ahead);
            prefetch(&s_.rows[ahead]);
        }
        if (k + prefetch_data < int64_t(drawn_.size())) X_.prefetch_row(drawn_[size_t(k + prefetch_data)]);
    }

    Rows X_;
    PegasosState& s_;
    Rng& rng_;
    std::vector<uint32_t> drawn_, below_;
};

}  // namespace widemargin
