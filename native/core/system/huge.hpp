// Vectors that are read in random order: on Linux large ones ask for huge pages, which spares most of the address
// translations that such reads would otherwise wait for.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace widemargin {

template <class T>
struct HugeAllocator {
    using value_type = T;

    HugeAllocator() = default;
    template <class U>
    HugeAllocator(const HugeAllocator<U>&) {}

    T* allocate(std::size_t n) {
#if defined(__linux__)
        if (n * sizeof(T) >= 2 * page) {
            const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
            void* memory = std::aligned_alloc(page, bytes);
            if (memory == nullptr) throw std::bad_alloc();
            madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: failure changes nothing
            return static_cast<T*>(memory);
        }
#endif
        void* memory = std::malloc(n * sizeof(T));
        if (memory == nullptr && n > 0) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    bool operator==(const HugeAllocator&) const { return true; }

  private:
    static constexpr std::size_t page = std::size_t(1) << 21;
};

template <class T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace widemargin
