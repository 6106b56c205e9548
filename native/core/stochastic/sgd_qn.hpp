// One epoch of SGD-QN: stochastic gradient descent with one learning rate per feature, learned from secants.
// Bordes, Bottou, Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (2009), in the corrected form
// of their erratum (2010): inverse rates, not rates, are averaged. On  lambda/2 |w|^2 + mean of s_i loss_i:
//
//     every row           w_j <- w_j - b_j s_i loss'(z_i) x_ij
//     every `skip` rows   w_j <- w_j - skip lambda b_j w_j,   and with the next row, from w' before to w now,
//                         1/b_j <- 1/b_j + skip r_j,   r_j = lambda + s_i (loss'(z) - loss'(z')) x_ij / (w_j - w'_j)
//
// with r_j held between lambda/10 and 100 lambda. Where all r_j = lambda these are the rates 1 / (1/eta_0 + lambda t).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/losses/losses.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

struct QuasiNewtonState {
    std::vector<double> w, before, rate;  // the constant feature's weight comes last
    std::vector<double> y, step, pull;    // label, s_i, and the sum of -y loss' since the last restart, per row
    double rho = 0, lambda = 1, mean_C = 1;
    int64_t skip = 1, until_decay = 1, epochs = 0;  // epochs since the last restart
    bool measure = false;                           // the next row gives a secant
};

template <class Rows, class Loss>
class QuasiNewtonSgd {
  public:
    QuasiNewtonSgd(Rows X, Loss loss, QuasiNewtonState& state) : X_(X), loss_(loss), s_(state) {}

    // Returns the sum of s_i loss_i, each as it was when its row came.
    double one_pass(const std::vector<uint32_t>& sequence) {
        const auto n = int64_t(sequence.size());
        double loss = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (k + prefetch_pointers < n) X_.prefetch_row_pointer(sequence[size_t(k + prefetch_pointers)]);
            if (k + prefetch_data < n) X_.prefetch_row(sequence[size_t(k + prefetch_data)]);
            loss += present(sequence[size_t(k)]);
        }
        ++s_.epochs;
        return loss;
    }

  private:
    double present(uint32_t i) {
        const double y = s_.y[i], step = s_.step[i];
        const double z = product(i, s_.w);
        const double slope = step * loss_.derivative(z, y);
        if (s_.measure) {
            learn_rates(i, slope - step * loss_.derivative(product(i, s_.before), y));
            s_.measure = false;
        }
        if (--s_.until_decay <= 0) {
            s_.before = s_.w;
            s_.measure = true;
            s_.until_decay = s_.skip;
            const double decay = double(s_.skip) * s_.lambda;
            for (size_t j = 0; j < s_.w.size(); ++j) s_.w[j] *= std::max(0.0, 1 - decay * s_.rate[j]);
        }
        if (slope != 0) {
            for_each(i, [&](size_t j, double x) { s_.w[j] -= s_.rate[j] * slope * x; });
            s_.pull[i] -= y * slope / step;
        }
        return step * loss_.value(z, y);
    }

    void learn_rates(uint32_t i, double change) {
        const double least = 0.1 * s_.lambda, most = 100 * s_.lambda, skip = double(s_.skip);
        for (double& b : s_.rate) b = 1 / (1 / b + skip * s_.lambda);
        if (change == 0) return;
        for_each(i, [&](size_t j, double x) {
            const double moved = s_.w[j] - s_.before[j];
            const double ratio = moved != 0 ? std::clamp(s_.lambda + change * x / moved, least, most) : most;
            s_.rate[j] = 1 / (1 / s_.rate[j] + skip * (ratio - s_.lambda));
        });
    }

    double product(uint32_t i, const std::vector<double>& w) const { return X_[i].dot(w.data()) + s_.rho * w.back(); }

    template <class F>
    void for_each(uint32_t i, F&& f) const {
        X_[i].for_each([&](int32_t j, double x) { f(size_t(j), x); });
        if (s_.rho > 0) f(s_.w.size() - 1, s_.rho);
    }

    Rows X_;
    Loss loss_;
    QuasiNewtonState& s_;
};

}  // namespace widemargin
