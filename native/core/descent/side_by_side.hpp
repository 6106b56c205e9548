// Dual coordinate descent for several two-class problems over the same rows at once: one class against the rest, or one
// label, per lane. The lanes have nothing in common but the rows and their order. A visit to a row makes one step in
// every lane, so that the row is read once for all of them and their weights, side by side, in whole registers
// (class_table.hpp). What a lane computes does not depend on which others run beside it.
//
// Shrinking goes lane by lane: a row has a list of the lanes in which it is in play. One that is settled in all of them
// is not read; one that is in play in few is multiplied with the weights of those alone.
//
// This is for the first passes of many lanes, which is all that easy problems need: no frequencies are learnt, because
// the order of rows is the same for all.
//
// Free intercepts: within a pass b = centre + mu sum v, and after it the centre moves there (see
// solvers/dual/dual_cd.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/descent/class_table.hpp"
#include "core/descent/dual_cd.hpp"
#include "core/descent/dual_steps.hpp"
#include "core/descent/order.hpp"
#include "core/rows/rows.hpp"
#include "core/system/huge.hpp"

namespace widemargin {

struct Lane {
    double b = 0;      // intercept
    double total = 0;  // sum of v
    double dual = 0;   // dual objective
    double gap = 0;    // estimate: the rows' shares, each as seen when the row was visited
    bool resting = false;
    Shrinking shrinking;
    double inward = 0, outward = 0;  // the largest violations of the pass at hand
    int64_t n_dropped = 0;           // rows out of play
};

// What the lanes keep between passes.
struct LaneState {
    std::vector<Lane> lanes;
    std::vector<int8_t> sides;     // rows x lanes: +1 or -1
    HugeVector<double> v;          // rows x lanes
    std::vector<uint8_t> order;    // rows x lanes: the numbers of those in play, then of the others
    std::vector<uint8_t> in_play;  // how many lanes of each row are
    std::vector<double> C, q;      // per row: its weight, its curvature |x|^2 + scale^2 + delta
    double scale_squared = 0;      // an intercept moves by this times v
    bool free_intercept = false;

    static constexpr int64_t most_lanes = 255;

    size_t count() const { return lanes.size(); }

    // The lanes `chosen`, ascending, alone go on.
    void keep(const std::vector<uint32_t>& chosen) {
        const size_t before = count(), after = chosen.size(), rows = C.size();
        std::vector<int> place(before, -1);
        for (size_t c = 0; c < after; ++c) place[chosen[c]] = int(c);
        // Forwards, in place: a row's new place is never behind its old one.
        for (size_t i = 0; i < rows; ++i) {
            for (size_t c = 0; c < after; ++c) {
                sides[i * after + c] = sides[i * before + chosen[c]];
                v[i * after + c] = v[i * before + chosen[c]];
            }
            uint8_t* listed = &order[i * after];
            uint8_t still = 0;
            for (size_t p = 0; p < before; ++p) {
                const int now = place[order[i * before + p]];
                if (now < 0) continue;
                if (p < in_play[i]) ++still;
                *listed++ = uint8_t(now);
            }
            in_play[i] = still;
        }
        sides.resize(rows * after), v.resize(rows * after), order.resize(rows * after);
        std::vector<Lane> kept;
        for (const uint32_t c : chosen) kept.push_back(lanes[c]);
        lanes = std::move(kept);
    }

    // All rows come back into play in that lane.
    void let_all_in(size_t lane) {
        const size_t k = count();
        for (size_t i = 0; i < in_play.size(); ++i) {
            uint8_t* listed = &order[i * k];
            const auto at = std::find(listed + in_play[i], listed + k, uint8_t(lane));
            if (at != listed + k) std::swap(*at, listed[in_play[i]++]);
        }
        lanes[lane].n_dropped = 0;
        lanes[lane].shrinking.let_all_in();
    }
};

template <class Rows, class Step, class T>
class SideBySide {
  public:
    SideBySide(Rows X, Step step, LaneState& state, ClassTable<T>& W)
        : X_(X),
          step_(step),
          s_(state),
          W_(W),
          z_(size_t(W.stride())),
          change_(size_t(W.stride())),
          at_hand_(state.count()),
          settled_(state.count()) {
        moved_.reserve(s_.count());
    }

    void one_pass(Order& order) {
        for (Lane& lane : s_.lanes)
            if (!lane.resting) lane.gap = lane.inward = lane.outward = 0;
        const auto& sequence = order.next_pass();
        const auto n = int64_t(sequence.size());
        for (int64_t at = 0; at < n; ++at) {
            ask_ahead(sequence, at);
            const uint32_t i = sequence[size_t(at)];
            if (s_.in_play[i] == 0) continue;
            const auto x = X_[i];
            look(i, x);
            step_lanes(i);
            move_weights(x);
        }
        for (size_t c = 0; c < s_.count(); ++c)
            if (!s_.lanes[c].resting) end_pass(c);
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

    // The scores of the lanes in play: of all lanes side by side or, where few are left, of those alone.
    template <class Row>
    void look(uint32_t i, const Row& x) {
        const uint32_t count = s_.in_play[i];
        std::copy_n(&s_.order[i * s_.count()], count, at_hand_.begin());
        few_ = int64_t(count) <= W_.few();
        if (few_)
            W_.few_scores(x, at_hand_.data(), count, z_.data());
        else
            W_.scores(x, z_.data());
    }

    // One step in every lane in play. Notes those that moved; those that are settled leave the row's list.
    void step_lanes(uint32_t i) {
        const size_t k = s_.count(), count = s_.in_play[i];
        uint8_t* listed = &s_.order[i * k];
        size_t stay = 0, leave = 0;
        moved_.clear();
        for (size_t p = 0; p < count; ++p) {
            const uint32_t c = at_hand_[p];
            if (step_lane(i, c, double(z_[few_ ? p : c])))
                listed[stay++] = uint8_t(c);
            else
                settled_[leave++] = uint8_t(c);
        }
        std::copy_n(settled_.begin(), leave, listed + stay);
        s_.in_play[i] = uint8_t(stay);
    }

    // Whether the lane stays in play in that row.
    bool step_lane(uint32_t i, uint32_t c, double score) {
        Lane& lane = s_.lanes[c];
        if (lane.resting) return false;
        const size_t at = size_t(i) * s_.count() + c;
        const DualRow row{s_.v[at], s_.q[i], double(s_.sides[at]), s_.C[i], 0};
        const double z = score + lane.b;
        const Look look = step_.look(row, z);
        lane.gap += step_.gap(row, z, look);
        if (look.slack > 0 && lane.shrinking.drops(look)) {
            ++lane.n_dropped;
            return false;
        }
        if (!(look.violation > 0)) return true;
        double& largest = look.outward ? lane.outward : lane.inward;
        largest = std::max(largest, look.violation);
        const double next = step_.solve(row, look), d = next - row.v;
        if (d == 0) return true;
        lane.dual += step_.gain(row, look, next);
        lane.b += s_.scale_squared * d;
        lane.total += d;
        s_.v[at] = next;
        change_[moved_.size()] = T(d);
        moved_.push_back(c);
        return true;
    }

    void end_pass(size_t c) {
        Lane& lane = s_.lanes[c];
        if (lane.shrinking.adjust(lane.inward, lane.outward, lane.n_dropped == 0)) s_.let_all_in(c);
        if (s_.free_intercept) move_centre(lane);
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
        const double step = s_.scale_squared * lane.total;
        lane.b += step;
        lane.dual -= step * lane.total;
    }

    Rows X_;
    Step step_;
    LaneState& s_;
    ClassTable<T>& W_;
    std::vector<T> z_, change_;
    std::vector<uint32_t> at_hand_;  // the lanes in play of the row at hand
    bool few_ = false;               // whether z_ holds their scores alone
    std::vector<uint8_t> settled_;
    std::vector<uint32_t> moved_;
};

}  // namespace widemargin
