// Dual coordinate descent for several two-class problems over the same rows at once: one class against the rest, or one
// label, per lane. The lanes have nothing in common but the rows and their order. A visit to a row makes one step in
// every lane, so that the row is read once for all of them and their weights, side by side, in whole registers
// (class_table.hpp). What a lane computes does not depend on which others run beside it.
//
// There is no shrinking: a row is seldom settled in all lanes. This is for the first passes of many lanes, which is all
// that easy problems need; what is left is better done lane by lane.
//
// Free intercepts: within a pass b = centre + mu sum v, and after it the centre moves there (see solvers/dual_cd.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/class_table.hpp"
#include "core/dual_steps.hpp"
#include "core/huge.hpp"
#include "core/order.hpp"
#include "core/rows.hpp"

namespace widemargin {

struct Lane {
    double b = 0;      // intercept
    double total = 0;  // sum of v
    double dual = 0;   // dual objective
    double gap = 0;    // estimate: the rows' shares, each as seen when the row was visited
    bool resting = false;
};

// What the lanes keep between passes.
struct LaneState {
    std::vector<Lane> lanes;
    std::vector<int8_t> sides;  // rows x lanes: +1 or -1
    HugeVector<double> v;       // rows x lanes
    std::vector<double> C, q;   // per row: its weight, its curvature |x|^2 + scale^2 + delta
    double scale_squared = 0;   // an intercept moves by this times v
    bool free_intercept = false;

    size_t count() const { return lanes.size(); }

    // The lanes `chosen` alone go on.
    void keep(const std::vector<uint32_t>& chosen) {
        const size_t before = count(), rows = C.size();
        // Forwards, in place: a row's new place is never behind its old one.
        for (size_t i = 0; i < rows; ++i)
            for (size_t c = 0; c < chosen.size(); ++c) {
                sides[i * chosen.size() + c] = sides[i * before + chosen[c]];
                v[i * chosen.size() + c] = v[i * before + chosen[c]];
            }
        sides.resize(rows * chosen.size());
        v.resize(rows * chosen.size());
        std::vector<Lane> kept;
        for (const uint32_t c : chosen) kept.push_back(lanes[c]);
        lanes = std::move(kept);
    }
};

template <class Rows, class Step, class T>
class SideBySide {
  public:
    SideBySide(Rows X, Step step, LaneState& state, ClassTable<T>& W)
        : X_(X), step_(step), s_(state), W_(W), z_(size_t(W.stride())), change_(size_t(W.stride())) {
        moved_.reserve(s_.count());
    }

    void one_pass(Order& order) {
        for (Lane& lane : s_.lanes)
            if (!lane.resting) lane.gap = 0;
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        for (int64_t at = 0; at < n; ++at) {
            ask_ahead(sequence, at);
            const uint32_t i = sequence[size_t(at)];
            const auto x = X_[i];
            W_.scores(x, z_.data());
            step_lanes(i);
            move_weights(x);
        }
        if (s_.free_intercept)
            for (Lane& lane : s_.lanes) move_centre(lane);
    }

  private:
    void ask_ahead(const std::vector<uint32_t>& sequence, int64_t at) const {
        const auto n = int64_t(sequence.size());
        if (at + prefetch_pointers < n) X_.prefetch_row_pointer(sequence[size_t(at + prefetch_pointers)]);
        if (at + prefetch_data >= n) return;
        const size_t ahead = sequence[size_t(at + prefetch_data)], k = s_.count();
        X_.prefetch_row(uint32_t(ahead));
        prefetch_block(&s_.v[ahead * k], int64_t(k * sizeof(double)));
        prefetch_block(&s_.sides[ahead * k], int64_t(k));
    }

    // One step in every lane at work; notes those that moved.
    void step_lanes(uint32_t i) {
        const size_t k = s_.count();
        double* v = &s_.v[i * k];
        const int8_t* side = &s_.sides[i * k];
        moved_.clear();
        for (size_t c = 0; c < k; ++c) {
            Lane& lane = s_.lanes[c];
            if (lane.resting) continue;
            const DualRow row{v[c], s_.q[i], double(side[c]), s_.C[i], 0};
            const double z = double(z_[c]) + lane.b;
            const Look look = step_.look(row, z);
            lane.gap += step_.gap(row, z, look);
            if (!(look.violation > 0)) continue;
            const double next = step_.solve(row, look), d = next - row.v;
            if (d == 0) continue;
            lane.dual += step_.gain(row, look, next);
            lane.b += s_.scale_squared * d;
            lane.total += d;
            v[c] = next;
            change_[moved_.size()] = T(d);
            moved_.push_back(uint32_t(c));
        }
    }

    template <class Row>
    void move_weights(const Row& x) {
        const auto count = int64_t(moved_.size());
        if (count == 0) return;
        if (count <= W_.few()) return W_.few_add(x, moved_.data(), count, change_.data());
        std::fill(z_.begin(), z_.end(), T(0));  // the scores have been used
        for (size_t c = 0; c < moved_.size(); ++c) z_[moved_[c]] = change_[c];
        W_.add(x, z_.data());
    }

    // The multiplier's step: the centre moves to where the intercept is, and the intercept as far again.
    void move_centre(Lane& lane) const {
        if (lane.resting) return;
        const double step = s_.scale_squared * lane.total;
        lane.b += step;
        lane.dual -= step * lane.total;
    }

    Rows X_;
    Step step_;
    LaneState& s_;
    ClassTable<T>& W_;
    std::vector<T> z_, change_;
    std::vector<uint32_t> moved_;
};

}  // namespace widemargin
