// Which coordinate next: the one policy that every coordinate descent method asks.
//
//   cyclic         1, 2, ..., n
//   permuted       a new random permutation each pass
//   permuted_once  one random permutation, kept
//   random         drawn with replacement
//   adaptive       adaptive coordinate frequencies (Glasmachers and Dogan 2013): Algorithm 3 lays out a pass in which
//                  coordinate i stands about p_i times; Algorithm 2 raises p_i where a step gained more than average.
//
// Shrinking works on top of each: a dropped coordinate is left out of later passes until `restore`. Where `block` is
// above one, what is shuffled in permuted and adaptive passes are blocks of so many neighbours, which memory likes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/system/rng.hpp"

namespace widemargin {

class Order {
  public:
    enum class Kind { cyclic, permuted, permuted_once, random, adaptive };

    static Kind parse(std::string_view name) {
        if (name == "cyclic") return Kind::cyclic;
        if (name == "permuted") return Kind::permuted;
        if (name == "permuted_once") return Kind::permuted_once;
        if (name == "random") return Kind::random;
        if (name == "adaptive") return Kind::adaptive;
        throw std::invalid_argument("unknown order: use cyclic, permuted, permuted_once, random or adaptive");
    }

    Order(Kind kind, uint32_t n, uint64_t seed, uint32_t block = 1)
        : kind_(kind), rng_(seed), n_(n), block_(block), dropped_(n, 0) {
        if (kind == Kind::adaptive) become_adaptive();
        if (kind == Kind::permuted_once) {
            once_.resize(n);
            std::iota(once_.begin(), once_.end(), 0u);
            rng_.shuffle(once_);
        }
        restore();
    }

    // From the next pass on, adaptive: worth its bookkeeping in a long run, not in a short one.
    void become_adaptive() {
        kind_ = Kind::adaptive;
        preference_.assign(n_, 1.0);
        pending_.resize(n_);
        for (auto& share : pending_)
            share = rng_.uniform();  // so that coordinates alike do not all come in the same pass
    }

    // How many neighbours are visited together from the next pass on.
    void set_block(uint32_t block) { block_ = block; }
    uint32_t block() const { return block_; }

    uint32_t size() const { return n_; }
    bool adaptive() const { return kind_ == Kind::adaptive; }
    // How often i stands in a pass on average, while the order is adaptive.
    double preference(uint32_t i) const { return preference_[i]; }
    uint32_t n_active() const { return uint32_t(active_.size()) - n_newly_dropped_; }
    // Coordinates that were not excluded for good: n_active() when none of them is dropped.
    uint32_t n_eligible() const { return n_ - n_excluded_; }
    const std::vector<double>& preferences() const { return preference_; }

    // The coordinates of the next pass, in order. Valid until the next call.
    const std::vector<uint32_t>& next_pass() {
        forget_dropped();
        switch (kind_) {
            case Kind::permuted:
                shuffle_blocks(active_);
                return sequence_;
            case Kind::cyclic:
            case Kind::permuted_once:
                return active_;
            case Kind::random:
                sequence_.resize(active_.size());
                for (auto& i : sequence_) i = active_[rng_.below(uint32_t(active_.size()))];
                return sequence_;
            case Kind::adaptive:
                lay_out_adaptive_pass();
                return sequence_;
        }
        return active_;
    }

    // Tells what a step on coordinate i gained (>= 0): Algorithm 2 with c = 1/5, p in [1/20, 20], eta = 1/n. The mean
    // gain is first taken over one whole pass, during which the preferences stay equal.
    void report(uint32_t i, double gain) {
        if (n_reported_ < n_) {
            mean_gain_ += (gain - mean_gain_) / double(++n_reported_);
            return;
        }
        if (mean_gain_ > 0)
            preference_[i] = std::clamp(std::exp(0.2 * (gain / mean_gain_ - 1)) * preference_[i], least, most);
        mean_gain_ += (gain - mean_gain_) / double(n_);
    }

    void drop(uint32_t i) {
        if (dropped_[i]) return;
        dropped_[i] = 1;
        ++n_newly_dropped_;
    }
    bool dropped(uint32_t i) const { return dropped_[i] != 0; }

    // Leaves coordinate i out for good: `restore` does not bring it back.
    void exclude(uint32_t i) {
        if (dropped_[i] == excluded) return;
        drop(i);
        dropped_[i] = excluded;
        ++n_excluded_;
    }

    void restore() {
        n_newly_dropped_ = 0;
        active_.clear();
        for (uint32_t k = 0; k < n_; ++k) {
            const uint32_t i = once_.empty() ? k : once_[k];
            if (dropped_[i] == excluded) continue;
            dropped_[i] = 0;
            active_.push_back(i);
        }
    }

  private:
    static constexpr double least = 1.0 / 20, most = 20;
    static constexpr uint8_t excluded = 2;

    void forget_dropped() {
        if (n_newly_dropped_ == 0) return;
        std::erase_if(active_, [this](uint32_t i) { return dropped_[i] != 0; });
        n_newly_dropped_ = 0;
    }

    // Blocks of what stands side by side in `listed`, in random order, cut at a new place each pass. Rows far apart
    // would each cost the latency of main memory. Blocks of one: any permutation.
    void shuffle_blocks(const std::vector<uint32_t>& listed) {
        sequence_ = listed;
        const auto n = uint32_t(sequence_.size());
        if (block_ <= 1 || n <= block_) {
            rng_.shuffle(sequence_);
            return;
        }
        const uint32_t first = 1 + rng_.below(block_);  // where the first block ends
        blocks_.resize((n - first + block_ - 1) / block_ + 1);
        std::iota(blocks_.begin(), blocks_.end(), 0u);
        rng_.shuffle(blocks_);
        auto at = sequence_.begin();
        for (const uint32_t k : blocks_) {
            const auto begin = listed.begin() + (k == 0 ? 0 : first + (k - 1) * block_);
            const auto end = listed.begin() + std::min(n, first + k * block_);
            at = std::copy(begin, end, at);
        }
    }

    // Preferences are first scaled to mean one, so that p >= 1/20 brings every coordinate up within 20 passes. Those
    // that stand in the pass several times are listed in rounds, so that no two of their visits are neighbours.
    void lay_out_adaptive_pass() {
        double sum = 0;
        for (const uint32_t i : active_) sum += preference_[i];
        const double scale = double(active_.size()) / sum;
        listed_.clear();
        again_.clear();
        for (const uint32_t i : active_) {
            preference_[i] = std::clamp(preference_[i] * scale, least, most);
            pending_[i] += preference_[i];
            if (pending_[i] < 1) continue;
            pending_[i] -= 1;
            listed_.push_back(i);
            if (pending_[i] >= 1) again_.push_back(i);
        }
        while (!again_.empty()) {
            listed_.insert(listed_.end(), again_.begin(), again_.end());
            std::erase_if(again_, [this](uint32_t i) { return (pending_[i] -= 1) < 1; });
        }
        shuffle_blocks(listed_);
    }

    Kind kind_;
    Rng rng_;
    uint32_t n_, block_;
    std::vector<uint8_t> dropped_;
    std::vector<uint32_t> active_, sequence_, blocks_, listed_, again_;
    std::vector<uint32_t> once_;  // the permutation of `permuted_once`
    std::vector<double> preference_, pending_;
    double mean_gain_ = 0;
    uint32_t n_reported_ = 0, n_newly_dropped_ = 0, n_excluded_ = 0;
};

}  // namespace widemargin
