// A large array that is written once: not filled with zeros first, its pages handed over in one go where the system
// can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace widemargin {

struct FreeMemory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

template <class T>
class WrittenOnce {
    static_assert(std::is_arithmetic_v<T>);

  public:
    WrittenOnce() = default;

    explicit WrittenOnce(std::size_t capacity) : size_(capacity) {
        if (capacity > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
        memory_.reset(static_cast<T*>(std::malloc(capacity ? capacity * sizeof(T) : 1)));
        if (!memory_) throw std::bad_alloc();
    }

    // Says that elements [first, last) are about to be written. The system then hands over their pages in one
    // go, in place of one page fault each, which would cost as much as parsing numbers does.
    void expect(std::size_t first, std::size_t last) {
#if defined(MADV_POPULATE_WRITE)
        constexpr std::uintptr_t page = 4096;
        const auto begin = (reinterpret_cast<std::uintptr_t>(data() + first) + page - 1) / page * page;
        const auto end = reinterpret_cast<std::uintptr_t>(data() + last) / page * page;
        if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#else
        (void)first, (void)last;
#endif
    }

    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }
    std::size_t size() const { return size_; }
    void shrink(std::size_t size) { size_ = size < size_ ? size : size_; }

  private:
    std::unique_ptr<T[], FreeMemory> memory_;
    std::size_t size_ = 0;
};

}  // namespace widemargin
