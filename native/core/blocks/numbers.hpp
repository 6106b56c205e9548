// Floating-point numbers of a chunk, without loss: one that is repeated; a dictionary of up to 256 and a byte for each;
// or their bytes by significance, all first bytes together, then all second ones. Runs of bytes are packed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/blocks/packed.hpp"

namespace widemargin::blocks {

enum class Numbers : uint8_t { one_number, dictionary, planes };

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// The distinct numbers, up to 256 of them, each with its place; numbers are told apart by their bits.
template <class T>
class Dictionary {
  public:
    // The code of each number; nothing where there are too many different ones.
    static Bytes codes(std::span<const T> numbers, std::vector<T>& entries) {
        Dictionary known;
        Bytes found(numbers.size());
        for (size_t k = 0; k < numbers.size(); ++k) {
            const int code = known.code(numbers[k], entries);
            if (code < 0) return {};
            found[k] = uint8_t(code);
        }
        return found;
    }

  private:
    static constexpr size_t slots = 1024;

    int code(T number, std::vector<T>& entries) {
        const auto bits = std::bit_cast<Bits<T>>(number);
        size_t at = size_t((uint64_t(bits) * 0x9E3779B97F4A7C15u) >> 54);
        while (code_[at] >= 0 && std::bit_cast<Bits<T>>(entries[size_t(code_[at])]) != bits) at = (at + 1) % slots;
        if (code_[at] < 0) {
            if (entries.size() == 256) return -1;
            code_[at] = int16_t(entries.size());
            entries.push_back(number);
        }
        return code_[at];
    }

    std::array<int16_t, slots> code_ = [] {
        std::array<int16_t, slots> none;
        none.fill(-1);
        return none;
    }();
};

template <class T>
void put_planes(std::span<const T> numbers, Bytes& out) {
    Bytes plane(numbers.size());
    for (size_t b = 0; b < sizeof(T); ++b) {
        for (size_t k = 0; k < numbers.size(); ++k) plane[k] = uint8_t(std::bit_cast<Bits<T>>(numbers[k]) >> (8 * b));
        pack(out, plane);
    }
}

template <class T>
void encode_numbers(std::span<const T> numbers, Bytes& out) {
    std::vector<T> entries;
    const Bytes codes = Dictionary<T>::codes(numbers, entries);
    if (entries.size() <= 1) {
        put(out, Numbers::one_number);
        return put(out, entries.empty() ? T(0) : entries.front());
    }
    if (codes.empty()) {
        put(out, Numbers::planes);
        return put_planes(numbers, out);
    }
    put(out, Numbers::dictionary);
    put(out, uint8_t(entries.size() - 1));
    for (const T entry : entries) put(out, entry);
    pack(out, codes);
}

template <class T>
void join_planes(Reader& in, T* out, size_t count, Scratch& scratch) {
    std::array<const uint8_t*, sizeof(T)> plane;
    for (size_t b = 0; b < sizeof(T); ++b) plane[b] = unpack(in, count, scratch.planes[b]).data();
    for (size_t k = 0; k < count; ++k) {
        Bits<T> bits = 0;
        for (size_t b = 0; b < sizeof(T); ++b) bits |= Bits<T>(plane[b][k]) << (8 * b);
        out[k] = std::bit_cast<T>(bits);
    }
}

template <class T>
void look_up(Reader& in, T* out, size_t count, Scratch& scratch) {
    std::array<T, 256> entries{};
    const size_t size = size_t(in.get<uint8_t>()) + 1;
    for (size_t k = 0; k < size; ++k) entries[k] = in.get<T>();
    const uint8_t* codes = unpack(in, count, scratch.codes).data();
    uint8_t largest = 0;
    for (size_t k = 0; k < count; ++k) {
        largest = codes[k] > largest ? codes[k] : largest;
        out[k] = entries[codes[k]];
    }
    if (largest >= size) damaged("a value is not in its dictionary");
}

template <class T>
void decode_numbers(Reader& in, T* out, size_t count, Scratch& scratch) {
    const auto kind = in.get<uint8_t>();
    if (kind == uint8_t(Numbers::one_number))
        std::fill_n(out, count, in.get<T>());
    else if (kind == uint8_t(Numbers::dictionary))
        look_up(in, out, count, scratch);
    else if (kind == uint8_t(Numbers::planes))
        join_planes(in, out, count, scratch);
    else
        damaged("its values are of an unknown kind");
}

}  // namespace widemargin::blocks
