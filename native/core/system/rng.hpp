// xoshiro256++ (Blackman and Vigna 2019) seeded by splitmix64: small, fast, the same numbers on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace widemargin {

class Rng {
  public:
    explicit Rng(uint64_t seed) {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15ULL;
            uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
            word = z ^ (z >> 31);
        }
    }

    uint64_t next() {
        const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // A number in [0, bound): multiply and shift; the bias is below bound / 2^32.
    uint32_t below(uint32_t bound) { return uint32_t(((next() >> 32) * uint64_t(bound)) >> 32); }

    double uniform() { return double(next() >> 11) * 0x1.0p-53; }

    template <class Sequence>
    void shuffle(Sequence& items) {
        for (uint32_t i = uint32_t(items.size()); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

  private:
    uint64_t state_[4];
};

}  // namespace widemargin
