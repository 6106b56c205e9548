// Whole numbers of a chunk (lengths of rows, distances of columns): one that is repeated, or Stream VByte, packed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/blocks/packed.hpp"
#include "core/blocks/stream_vbyte.hpp"

namespace widemargin::blocks {

enum class WholeNumbers : uint8_t { one_number, stream_vbyte };

inline void encode_whole_numbers(std::span<const uint32_t> numbers, Bytes& out) {
    const auto differs = [&](uint32_t x) { return x != numbers.front(); };
    if (std::none_of(numbers.begin(), numbers.end(), differs)) {
        put(out, WholeNumbers::one_number);
        return put(out, numbers.empty() ? uint32_t(0) : numbers.front());
    }
    put(out, WholeNumbers::stream_vbyte);
    Bytes plain;
    stream_vbyte_encode(numbers, plain);
    pack_with_length(out, plain);
}

// Numbers to be decoded in portions, or the one that all of them are.
class WholeNumbersReader {
  public:
    WholeNumbersReader(Reader& in, size_t count, Bytes& room) : decoder_(View(), 0) {
        const auto kind = in.get<uint8_t>();
        if (kind == uint8_t(WholeNumbers::one_number)) {
            all_ = in.get<uint32_t>();
        } else if (kind == uint8_t(WholeNumbers::stream_vbyte)) {
            decoder_ = StreamVByte(unpack_with_length(in, controls_of(count) + 4 * count, room), count);
        } else {
            damaged("its numbers are of an unknown kind");
        }
    }

    std::optional<uint32_t> all() const { return all_; }

    void next(uint32_t* out, size_t count) {
        if (all_)
            std::fill_n(out, count, *all_);
        else
            decoder_.next(out, count);
    }

  private:
    StreamVByte decoder_;
    std::optional<uint32_t> all_;
};

}  // namespace widemargin::blocks
