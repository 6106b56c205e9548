// What the dual methods that solve for one row's k variables at a time share: the state between calls, the report of a
// call, and the loop of passes.
//
//   W = X^T v,  v of rows x classes;  z_i = x_i W + intercepts
//
// Rows may be compact (compact.hpp): a private part p then adds p v_m to z_m and p to the row's squared length.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/budget.hpp"
#include "core/descent/class_table.hpp"
#include "core/descent/order.hpp"
#include "core/system/huge.hpp"

namespace widemargin {

struct SequentialReport {
    int64_t passes = 0;
    int64_t steps = 0;     // rows looked at
    int64_t n_active = 0;  // rows not dropped by shrinking
    double dual = 0;       // dual objective, kept up to date from the starting value
    double gap = 0;        // estimate: the rows' shares, each as seen when the row was visited
    double violation = 0;  // largest violation of the optimality conditions seen in the last pass
    bool looks_done = false;
};

// What every such method keeps between calls. `dual_row` tells v_i from whatever the method stores.
struct ClassDualState {
    int64_t n_classes = 0;
    std::vector<int32_t> y;
    std::vector<double> C;
    std::vector<double> sqnorms, private_part;  // |x_i|^2 with the private part, and that part
    HugeVector<double> alpha;                   // rows x classes
    std::vector<double> intercepts;             // one per class
    double scale_squared = 0;                   // an intercept moves by this times v
    double dual = 0;
};

// Passes until the estimated gap is small enough, or the time is used up.
template <class OnePass>
SequentialReport make_passes(Order& order, const Budget& target, const double& dual, OnePass&& one_pass) {
    const auto start = std::chrono::steady_clock::now();
    SequentialReport report;
    while (report.passes < target.max_passes) {
        const int64_t before = report.steps;
        one_pass(report);
        ++report.passes;
        report.n_active = order.n_active();
        // An adaptive pass may show few rows, which speak for themselves alone.
        const bool telling = 2 * (report.steps - before) >= report.n_active;
        report.looks_done = telling && target.is_met(report.gap, dual + report.gap, dual);
        if (report.looks_done || report.n_active == 0) break;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        if (spent.count() > target.max_seconds) break;
    }
    report.dual = dual;
    return report;
}

// Asks early for what the next rows of a pass will need.
template <class Rows>
void ask_ahead(const Rows& X, const ClassDualState& s, const std::vector<uint32_t>& sequence, int64_t at) {
    const auto n = int64_t(sequence.size());
    if (at + prefetch_pointers < n) {
        const uint32_t ahead = sequence[size_t(at + prefetch_pointers)];
        X.prefetch_row_pointer(ahead);
        prefetch(&s.private_part[ahead]);
    }
    if (at + prefetch_data < n) {
        const uint32_t ahead = sequence[size_t(at + prefetch_data)];
        X.prefetch_row(ahead);
        prefetch_block(&s.alpha[size_t(ahead) * size_t(s.n_classes)], s.n_classes * int64_t(sizeof(double)));
    }
}

// W = X^T v from scratch; `dual_row(i, v)` writes v_i.
template <class Rows, class T, class DualRow>
void rebuild_weights(const Rows& X, ClassTable<T>& W, int64_t n_classes, DualRow&& dual_row) {
    std::vector<double> v(static_cast<size_t>(n_classes));
    std::vector<T> u(static_cast<size_t>(W.stride()), T(0));
    W.clear();
    for (int64_t i = 0; i < X.n_rows; ++i) {
        dual_row(i, v.data());
        bool any = false;
        for (int64_t c = 0; c < n_classes; ++c) u[size_t(c)] = T(v[size_t(c)]), any |= v[size_t(c)] != 0;
        if (any) W.add(X[i], u.data());
    }
}

}  // namespace widemargin
