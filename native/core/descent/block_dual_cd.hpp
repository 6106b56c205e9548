// Dual coordinate descent over one block of rows after another (Yu, Hsieh, Chang, Lin 2010), the steps being those of
// dual_steps.hpp. What belongs to all rows (w, b, what a pass has seen, when rows are left out) lives on from block to
// block; what belongs to the rows of a block comes and goes with it. A block may be visited in slices of time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/descent/dual_cd.hpp"
#include "core/descent/dual_steps.hpp"
#include "core/descent/order.hpp"
#include "core/rows/row_table.hpp"

namespace widemargin {

// What a pass over all blocks has seen; of several visits to a row in its block the first.
struct PassSums {
    int64_t steps = 0;               // coordinates looked at
    double gap = 0;                  // the rows' shares of the gap, each as seen when the row came
    double gained = 0;               // by how much the dual value has grown
    double inward = 0, outward = 0;  // largest violations
};

// The rows of a block with their dual variables, and how far its visit has come.
struct BlockVisit {
    std::vector<DualRow> rows;
    Order order{Order::Kind::permuted, 0, 0};
    const std::vector<uint32_t>* sequence = nullptr;
    size_t position = 0;
    int64_t rounds = 0;  // visits of all rows that are complete
};

template <class Table, class Step, class Weight>
class BlockDescent {
  public:
    BlockDescent(const Table& X, Step step, BlockVisit& visit, HugeVector<Weight>& w, double& b, double scale_squared,
                 const Shrinking& shrinking, PassSums& sums)
        : X_(X),
          step_(step),
          visit_(visit),
          w_(w.data()),
          b_(b),
          scale_squared_(scale_squared),
          shrinking_(shrinking),
          sums_(sums) {}

    // Goes on until all rows were visited so many times, or the time is up; whether the visit is complete.
    bool run(int64_t rounds, double max_seconds) {
        const auto start = std::chrono::steady_clock::now();
        while (visit_.rounds < rounds && visit_.order.n_active() > 0) {
            if (visit_.sequence == nullptr) visit_.sequence = &visit_.order.next_pass(), visit_.position = 0;
            const size_t end = std::min(visit_.position + slice, visit_.sequence->size());
            for (; visit_.position < end; ++visit_.position) one_row(visit_.position);
            if (visit_.position == visit_.sequence->size()) ++visit_.rounds, visit_.sequence = nullptr;
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > max_seconds) break;
        }
        return visit_.rounds >= rounds || visit_.order.n_active() == 0;
    }

  private:
    static constexpr size_t slice = 256;  // rows between two looks at the clock

    void ask_for_rows_ahead(size_t k) const {
        const auto& sequence = *visit_.sequence;
        if (k + prefetch_pointers < sequence.size()) {
            const uint32_t ahead = sequence[k + prefetch_pointers];
            X_.prefetch_row_pointer(ahead);
            prefetch(&visit_.rows[ahead]);
        }
        if (k + prefetch_data < sequence.size()) X_.prefetch_row(sequence[k + prefetch_data]);
    }

    void one_row(size_t k) {
        ask_for_rows_ahead(k);
        const uint32_t i = (*visit_.sequence)[k];
        DualRow& row = visit_.rows[i];
        const auto& x = X_[i];
        const double z = x.dot(w_) + b_;
        if (row.q == 0) row.q = std::max(x.sqnorm() + scale_squared_ + step_.delta(row.C), 1e-300);
        const Look look = step_.look(row, z);
        ++sums_.steps;
        const bool first = visit_.rounds == 0;
        if (first) sums_.gap += step_.gap(row, z, look);
        if (look.slack > 0 && shrinking_.drops(look)) return visit_.order.drop(i);
        if (look.violation <= 0) return;
        double& largest = look.outward ? sums_.outward : sums_.inward;
        if (first) largest = std::max(largest, look.violation);
        move(x, row, look);
    }

    template <class Row>
    void move(const Row& x, DualRow& row, const Look& look) {
        const double next = step_.solve(row, look), d = next - row.v;
        sums_.gained += step_.gain(row, look, next);
        if (d == 0) return;
        row.v = next;
        x.axpy(d, w_);
        b_ += scale_squared_ * d;
    }

    const Table& X_;
    Step step_;
    BlockVisit& visit_;
    Weight* w_;
    double& b_;
    double scale_squared_;
    const Shrinking& shrinking_;
    PassSums& sums_;
};

}  // namespace widemargin
