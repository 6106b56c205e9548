// Two-variable steps for the dual of the one-class SVM (Chou, Lin, Lin 2020).
//
//   min over alpha   1/2 |X^T alpha|^2     with  0 <= alpha_i <= upper_i  and  sum_i alpha_i  fixed
//
// The slope of the objective in alpha_i is G_i = x_i . w, w = X^T alpha. A pair (i, j) with G_i < G_j, alpha_i below
// its upper bound and alpha_j above zero gains by moving mass from j to i; the exact step is (G_j - G_i) / |x_i -
// x_j|^2, cut at the bounds. A sweep looks at a working set, sorts those that may grow by G ascending, those that may
// fall by G descending, and joins them pair by pair.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"

namespace widemargin {

// x . y of two rows of one matrix.
template <class Row>
double row_product(const Row& x, const Row& y) {
    double sum = 0;
    int64_t a = 0, b = 0;
    while (a < x.size && b < y.size) {
        const int32_t i = x.index[a], j = y.index[b];
        if (i == j) {
            if constexpr (requires { x.value[a]; })
                sum += double(x.value[a]) * double(y.value[b]);
            else
                sum += x.value * y.value;
        }
        a += i <= j;
        b += j <= i;
    }
    return sum;
}

template <class T>
double row_product(const DenseRow<T>& x, const DenseRow<T>& y) {
    return x.dot(y.value);
}

struct OneClassReport {
    int64_t sweeps = 0;
    int64_t steps = 0;     // pairs moved
    double violation = 0;  // largest G_j - G_i of a pair at the start of the last sweep
};

template <class Rows>
class OneClassSweeps {
  public:
    OneClassSweeps(Rows X, const double* upper, const double* sqnorms, double* alpha, double* w)
        : X_(X), upper_(upper), sqnorms_(sqnorms), alpha_(alpha), w_(w) {}

    // Sweeps over the working set until its largest violation is at most `target`.
    OneClassReport run(const std::vector<uint32_t>& working, double target, int64_t max_sweeps, double max_seconds) {
        const auto start = std::chrono::steady_clock::now();
        OneClassReport report;
        while (report.sweeps < max_sweeps) {
            rank(working);
            report.violation =
                grow_.empty() || fall_.empty() ? 0.0 : std::max(0.0, fall_.front().slope - grow_.front().slope);
            ++report.sweeps;
            if (report.violation <= target) break;
            report.steps += move_pairs();
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > max_seconds) break;
        }
        return report;
    }

  private:
    struct Ranked {
        double slope;
        uint32_t row;
    };

    void rank(const std::vector<uint32_t>& working) {
        grow_.clear(), fall_.clear();
        for (size_t k = 0; k < working.size(); ++k) {
            if (k + prefetch_pointers < working.size()) X_.prefetch_row_pointer(working[k + prefetch_pointers]);
            if (k + prefetch_data < working.size()) X_.prefetch_row(working[k + prefetch_data]);
            const uint32_t i = working[k];
            const double slope = X_[i].dot(w_);
            if (alpha_[i] < upper_[i]) grow_.push_back({slope, i});
            if (alpha_[i] > 0) fall_.push_back({slope, i});
        }
        std::ranges::sort(grow_, {}, [](const Ranked& r) { return std::pair(r.slope, r.row); });
        std::ranges::sort(fall_, {}, [](const Ranked& r) { return std::pair(-r.slope, r.row); });
    }

    int64_t move_pairs() {
        const size_t most = std::min(grow_.size(), fall_.size());
        int64_t moved = 0;
        for (size_t k = 0; k < most && grow_[k].slope < fall_[k].slope; ++k) moved += move(grow_[k].row, fall_[k].row);
        return moved;
    }

    bool move(uint32_t i, uint32_t j) {
        const auto x = X_[i], y = X_[j];
        // The slopes anew: earlier pairs of this sweep moved w.
        const double slope = y.dot(w_) - x.dot(w_);
        if (!(slope > 0)) return false;
        const double distance = sqnorms_[i] + sqnorms_[j] - 2 * row_product(x, y);
        const double room = std::min(upper_[i] - alpha_[i], alpha_[j]);
        const double step = slope < room * distance ? slope / distance : room;
        if (!(step > 0)) return false;
        const bool filled = step == upper_[i] - alpha_[i];
        alpha_[i] = filled ? upper_[i] : alpha_[i] + step;
        alpha_[j] -= step;
        x.axpy(step, w_);
        y.axpy(-step, w_);
        return true;
    }

    Rows X_;
    const double *upper_, *sqnorms_;
    double *alpha_, *w_;
    std::vector<Ranked> grow_, fall_;
};

}  // namespace widemargin
