// Stream VByte (Lemire, Kurz, Rupp 2018): whole numbers in 1 to 4 bytes each. The lengths stand apart, two bits each,
// four numbers to a byte, so that one shuffle of 16 bytes decodes four numbers.
//
//     ceil(n / 4) bytes of lengths, the first number in the lowest bits; then the numbers' bytes, lowest first
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/blocks/bytes.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <tmmintrin.h>
#define WIDEMARGIN_SSSE3 1
#endif

namespace widemargin::blocks {

inline size_t controls_of(size_t count) {
    return (count + 3) / 4;
}

inline void stream_vbyte_encode(std::span<const uint32_t> numbers, Bytes& out) {
    const size_t control = out.size();
    out.resize(control + controls_of(numbers.size()), 0);
    for (size_t k = 0; k < numbers.size(); ++k) {
        const uint32_t x = numbers[k];
        const int bytes = x == 0 ? 1 : (std::bit_width(x) + 7) / 8;
        out[control + k / 4] |= uint8_t((bytes - 1) << (2 * (k % 4)));
        for (int b = 0; b < bytes; ++b) out.push_back(uint8_t(x >> (8 * b)));
    }
}

// For each byte of lengths: how many bytes its four numbers take, and from where each of 16 result bytes comes.
struct VByteTables {
    std::array<uint8_t, 256> length{};
    std::array<std::array<uint8_t, 16>, 256> source{};

    constexpr VByteTables() {
        for (int control = 0; control < 256; ++control) {
            uint8_t at = 0;
            for (int k = 0; k < 4; ++k) {
                const int bytes = 1 + ((control >> (2 * k)) & 3);
                for (int b = 0; b < 4; ++b) source[control][4 * k + b] = b < bytes ? at++ : 0x80;
            }
            length[control] = at;
        }
    }
};
inline constexpr VByteTables vbyte_tables{};

// Decodes `count` numbers in portions. `data` is checked as a whole first: portions cannot read beyond it.
class StreamVByte {
  public:
    StreamVByte(View bytes, size_t count) {
        if (bytes.size() < controls_of(count)) damaged("it has too few lengths of numbers");
        control_ = bytes.data();
        data_ = control_ + controls_of(count);
        end_ = bytes.data() + bytes.size();
        size_t needed = 0;
        for (size_t k = 0; k < count / 4; ++k) needed += vbyte_tables.length[control_[k]];
        for (size_t k = 0; k < count % 4; ++k) needed += 1 + ((control_[count / 4] >> (2 * k)) & 3);
        if (needed != size_t(end_ - data_)) damaged("its numbers do not have the lengths that they should");
    }

    // The next numbers; of every portion but the last a multiple of four.
    void next(uint32_t* out, size_t count) {
        size_t done = whole_fours(out, count / 4) * 4;
        for (; done + 4 <= count; done += 4) scalar(out + done, 4);
        if (done < count) scalar(out + done, count - done);
    }

  private:
    void scalar(uint32_t* out, size_t count) {
        const uint8_t control = *control_++;
        for (size_t k = 0; k < count; ++k) {
            const int bytes = 1 + ((control >> (2 * k)) & 3);
            uint32_t x = 0;
            for (int b = 0; b < bytes; ++b) x |= uint32_t(*data_++) << (8 * b);
            out[k] = x;
        }
    }

#if defined(WIDEMARGIN_SSSE3)
    size_t whole_fours(uint32_t* out, size_t fours) {
        static const bool available = __builtin_cpu_supports("ssse3");
        return available ? shuffled_fours(out, fours) : 0;
    }

    // As long as 16 bytes can be read.
    __attribute__((target("ssse3"))) size_t shuffled_fours(uint32_t* out, size_t fours) {
        size_t k = 0;
        for (; k < fours && end_ - data_ >= 16; ++k) {
            const uint8_t control = *control_++;
            const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data_));
            const __m128i from = _mm_loadu_si128(reinterpret_cast<const __m128i*>(vbyte_tables.source[control].data()));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4 * k), _mm_shuffle_epi8(packed, from));
            data_ += vbyte_tables.length[control];
        }
        return k;
    }
#else
    size_t whole_fours(uint32_t*, size_t) { return 0; }
#endif

    const uint8_t *control_, *data_, *end_;
};

}  // namespace widemargin::blocks
