// Bytes of a chunk, written one after another and read back with every length checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace widemargin::blocks {

// What bytes that were not written by us, or not as they are now, are refused with.
[[noreturn]] inline void damaged(const char* what) {
    throw std::invalid_argument(what);
}

static_assert(std::endian::native == std::endian::little, "files hold the bytes of numbers lowest first");

using Bytes = std::vector<uint8_t>;
using View = std::span<const uint8_t>;

template <class T>
void put(Bytes& out, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), begin, begin + sizeof(T));
}

inline void put_all(Bytes& out, View bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

// Reads from the front; what is not there is refused.
class Reader {
  public:
    explicit Reader(View bytes) : rest_(bytes) {}

    View take(uint64_t size) {
        if (size > rest_.size()) damaged("it ends too early");
        const View taken = rest_.first(size_t(size));
        rest_ = rest_.subspan(size_t(size));
        return taken;
    }

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }

    void expect_end() const {
        if (!rest_.empty()) damaged("there are bytes behind its end");
    }

  private:
    View rest_;
};

}  // namespace widemargin::blocks
