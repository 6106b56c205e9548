// One pass of online learning over rows in a given order: each row is predicted first (progressive validation), then
// learned from. Two methods over the same table of cells, one cell per feature and one for the intercept:
//
//   adagrad   normalized adaptive gradient (Duchi, Hazan, Singer 2011; Ross, Mineiro, Langford 2013, "Normalized online
//             learning", NAG): feature j has the rate  eta sqrt(t/N) / (s_j sqrt(G_j)),  s_j its largest |x_j| so far,
//             G_j the sum of its squared gradients, N the sum of x_j^2 / s_j^2. The step is implicit (Karampatziakis
//             and Langford 2011, in the limit of Kulis and Bartlett 2010): it never carries a prediction past the
//             minimum of the row's loss, whatever the scale of the row or its weight.
//   ftrl      FTRL-Proximal (McMahan et al. 2013, Algorithm 1): weights that are exactly zero, for l1 and elastic net.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/losses/losses.hpp"
#include "core/losses/soft_threshold.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

// What one feature remembers; `w` is its weight at any time. 32 bytes: half a cache line.
struct OnlineCell {
    double w;
    double squares;  // G_j or n_j: the sum of squared gradients
    double memory;   // adagrad: sum over changes d of w at row t of (t - 1) d, for the mean; ftrl: z_j
    double scale;    // s_j
};

struct OnlineSettings {
    double learning_rate;  // eta, or alpha of FTRL
    double beta;           // of FTRL
    double l1, l2;         // of FTRL
    bool intercept;
    bool classification;
    int64_t n_outputs;  // one, or one per class
    int64_t width;      // features in the table; the intercept's cell comes after them
    bool hashed;        // columns are hashed into the table, whose width is a power of two
};

// What the learner counts; kept by the caller as an array of doubles in this order.
struct OnlineTotals {
    double rows, normalizer, weight, loss, wrong;
};

// A loss seen from outside a pass: called a few times per row, so a virtual call costs nothing.
class OnlineLoss {
  public:
    virtual ~OnlineLoss() = default;
    virtual double value(double z, double y) const = 0;
    virtual double derivative(double z, double y) const = 0;
    // h with  h = weight * loss'(z - h S): the implicit step.
    virtual double implicit_step(double z, double y, double weight, double S) const = 0;
};

template <class Loss>
class OnlineLossOf final : public OnlineLoss {
  public:
    explicit OnlineLossOf(Loss loss) : loss_(loss) {}
    double value(double z, double y) const override { return loss_.value(z, y); }
    double derivative(double z, double y) const override { return loss_.derivative(z, y); }

    // h lies between 0 and the explicit step; Newton's method, kept inside a bracket. At a kink the bracket closes.
    double implicit_step(double z, double y, double weight, double S) const override {
        const double explicit_step = weight * loss_.derivative(z, y);
        double low = std::min(0.0, explicit_step), high = std::max(0.0, explicit_step);
        double h = explicit_step / (1 + weight * S * loss_.curvature(z, y));
        for (int round = 0; round < 60 && low < high; ++round) {
            const double at = z - h * S;
            const double residual = h - weight * loss_.derivative(at, y);
            if (std::abs(residual) <= 1e-12 * std::abs(explicit_step)) break;
            (residual > 0 ? high : low) = h;
            const double newton = h - residual / (1 + weight * S * loss_.curvature(at, y));
            h = newton > low && newton < high ? newton : 0.5 * (low + high);
        }
        return h;
    }

  private:
    Loss loss_;
};

inline uint64_t hash_column(uint64_t j) {
    j += 0x9e3779b97f4a7c15ULL;
    j = (j ^ (j >> 30)) * 0xbf58476d1ce4e5b9ULL;
    j = (j ^ (j >> 27)) * 0x94d049bb133111ebULL;
    return j ^ (j >> 31);
}

// Calls f(cell index, value) for each entry of a row, and for the intercept.
template <class Row, class F>
void for_each_cell(const Row& x, const OnlineSettings& s, F&& f) {
    const auto mask = uint64_t(s.width - 1);
    if (s.hashed)
        x.for_each([&](int32_t j, double v) { f(int64_t(hash_column(uint64_t(j)) & mask), v); });
    else
        x.for_each([&](int32_t j, double v) { f(int64_t(j), v); });
    if (s.intercept) f(s.width, 1.0);
}

class AdaGrad {
  public:
    AdaGrad(const OnlineSettings& settings, const OnlineLoss& loss) : s_(settings), loss_(loss) {}

    // The prediction; a feature larger than ever before first has its weight brought to the new scale.
    template <class Row>
    double predict(const Row& x, OnlineCell* cells, double& normalizer, double t) const {
        double z = 0;
        for_each_cell(x, s_, [&](int64_t j, double v) {
            OnlineCell& cell = cells[j];
            const double size = std::abs(v);
            if (size > cell.scale) {
                if (cell.w != 0) move(cell, cell.w * (cell.scale / size) - cell.w, t);
                cell.scale = size;
            }
            if (size > 0) normalizer += (v / cell.scale) * (v / cell.scale);
            z += cell.w * v;
        });
        return z;
    }

    template <class Row>
    void learn(const Row& x, OnlineCell* cells, double z, double y, double weight, double normalizer, double t) {
        const double g = weight * loss_.derivative(z, y);
        if (g == 0 || !(normalizer > 0)) return;
        const double common = s_.learning_rate * std::sqrt(t / normalizer);
        double S = 0;
        rates_.clear();
        for_each_cell(x, s_, [&](int64_t j, double v) {
            OnlineCell& cell = cells[j];
            cell.squares += (g * v) * (g * v);
            const double size = cell.scale * std::sqrt(cell.squares);
            rates_.push_back(size > 0 ? common * v / size : 0.0);
            S += rates_.back() * v;
        });
        const double h = loss_.implicit_step(z, y, weight, S);
        size_t k = 0;
        for_each_cell(x, s_, [&](int64_t j, double) { move(cells[j], -h * rates_[k++], t); });
    }

  private:
    static void move(OnlineCell& cell, double d, double t) {
        cell.w += d;
        cell.memory += (t - 1) * d;
    }

    OnlineSettings s_;
    const OnlineLoss& loss_;
    std::vector<double> rates_;
};

class Ftrl {
  public:
    Ftrl(const OnlineSettings& settings, const OnlineLoss& loss) : s_(settings), loss_(loss) {}

    template <class Row>
    double predict(const Row& x, OnlineCell* cells, double&, double) const {
        double z = 0;
        for_each_cell(x, s_, [&](int64_t j, double v) { z += cells[j].w * v; });
        return z;
    }

    template <class Row>
    void learn(const Row& x, OnlineCell* cells, double z, double y, double weight, double, double) const {
        const double g = weight * loss_.derivative(z, y);
        if (g == 0) return;
        for_each_cell(x, s_, [&](int64_t j, double v) {
            OnlineCell& cell = cells[j];
            const double gj = g * v, before = std::sqrt(cell.squares);
            cell.squares += gj * gj;
            const double after = std::sqrt(cell.squares);
            cell.memory += gj - (after - before) / s_.learning_rate * cell.w;
            const bool penalised = j != s_.width;  // the intercept is free
            const double l1 = penalised ? s_.l1 : 0.0, l2 = penalised ? s_.l2 : 0.0;
            const double pulled = soft_threshold(-cell.memory, l1);
            cell.w = pulled != 0 ? pulled / ((s_.beta + after) / s_.learning_rate + l2) : 0.0;
        });
    }

  private:
    OnlineSettings s_;
    const OnlineLoss& loss_;
};

// Learns from rows order[0 .. n). y holds class codes or targets; `last` receives the last row's best guess.
template <class Rows, class Method>
double online_pass(const Rows& X, const OnlineSettings& s, const OnlineLoss& loss, Method method, OnlineCell* cells,
                   OnlineTotals& totals, const double* y, const double* weight, const int64_t* order, int64_t n) {
    std::vector<double> z(static_cast<size_t>(s.n_outputs));
    double guess = 0;
    for (int64_t k = 0; k < n; ++k) {
        if (k + prefetch_data < n) X.prefetch_row(order[k + prefetch_data]);
        const int64_t i = order[k];
        if (!(weight[i] > 0)) continue;
        const auto x = X[i];
        totals.rows += 1;
        totals.weight += weight[i];
        for (int64_t c = 0; c < s.n_outputs; ++c) {
            double unused = 0;
            double& normalizer = c == 0 ? totals.normalizer : unused;
            z[size_t(c)] = method.predict(x, cells + c * (s.width + 1), normalizer, totals.rows);
        }
        const auto target = [&](int64_t c) {
            if (!s.classification) return y[i];
            return int64_t(y[i]) == (s.n_outputs == 1 ? 1 : c) ? 1.0 : -1.0;
        };
        guess = s.n_outputs > 1    ? double(std::max_element(z.begin(), z.end()) - z.begin())
                : s.classification ? double(z[0] > 0)
                                   : z[0];
        totals.wrong += s.classification && guess != y[i] ? weight[i] : 0.0;
        for (int64_t c = 0; c < s.n_outputs; ++c) {
            totals.loss += weight[i] * loss.value(z[size_t(c)], target(c));
            method.learn(x, cells + c * (s.width + 1), z[size_t(c)], target(c), weight[i], totals.normalizer,
                         totals.rows);
        }
    }
    return guess;
}

// out_i = x_i . w + b with hashed columns
template <class Rows>
void hashed_matvec(const Rows& X, const double* w, int64_t width, double b, double* out) {
    const auto mask = uint64_t(width - 1);
    for (int64_t i = 0; i < X.n_rows; ++i) {
        double z = b;
        X[i].for_each([&](int32_t j, double v) { z += w[hash_column(uint64_t(j)) & mask] * v; });
        out[i] = z;
    }
}

}  // namespace widemargin
