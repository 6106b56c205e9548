// XXH64 (Collet), with seed 0: a checksum that costs a tenth of reading what it protects.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace widemargin::blocks {

class XXH64 {
  public:
    static uint64_t of(std::span<const uint8_t> bytes) {
        const uint8_t *at = bytes.data(), *const end = at + bytes.size();
        uint64_t h = bytes.size() >= 32 ? stripes(at, end) : p5;
        h += bytes.size();
        for (; end - at >= 8; at += 8) h = std::rotl(h ^ round(0, word(at)), 27) * p1 + p4;
        if (end - at >= 4) {
            uint32_t half;
            std::memcpy(&half, at, 4);
            h = std::rotl(h ^ (half * p1), 23) * p2 + p3;
            at += 4;
        }
        for (; at < end; ++at) h = std::rotl(h ^ (*at * p5), 11) * p1;
        return avalanche(h);
    }

  private:
    static constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
                              p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;

    static uint64_t word(const uint8_t* at) {
        uint64_t value;
        std::memcpy(&value, at, 8);
        return value;
    }
    static uint64_t round(uint64_t sum, uint64_t value) { return std::rotl(sum + value * p2, 31) * p1; }

    static uint64_t stripes(const uint8_t*& at, const uint8_t* end) {
        uint64_t a = p1 + p2, b = p2, c = 0, d = 0 - p1;
        for (; end - at >= 32; at += 32) {
            a = round(a, word(at)), b = round(b, word(at + 8));
            c = round(c, word(at + 16)), d = round(d, word(at + 24));
        }
        uint64_t h = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
        for (const uint64_t lane : {a, b, c, d}) h = (h ^ round(0, lane)) * p1 + p4;
        return h;
    }

    static uint64_t avalanche(uint64_t h) {
        h = (h ^ (h >> 33)) * p2;
        h = (h ^ (h >> 29)) * p3;
        return h ^ (h >> 32);
    }
};

}  // namespace widemargin::blocks
