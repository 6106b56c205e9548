// A large array that is written once: not filled with zeros first, and in huge pages where the system has
// them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace widemargin {

struct FreeBlock {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

template <class T>
class Block {
    static_assert(std::is_arithmetic_v<T>);

  public:
    Block() = default;

    explicit Block(std::size_t capacity) : size_(capacity) {
        if (capacity > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
        memory_.reset(static_cast<T*>(allocate(capacity * sizeof(T))));
        if (!memory_) throw std::bad_alloc();
    }

    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }
    std::size_t size() const { return size_; }
    void shrink(std::size_t size) { size_ = size < size_ ? size : size_; }

  private:
    static void* allocate(std::size_t bytes) {
#if defined(__linux__)
        constexpr std::size_t huge_page = std::size_t{1} << 21;
        if (bytes >= 2 * huge_page) {
            const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
            void* memory = std::aligned_alloc(huge_page, rounded);
            // A hint: the page faults of fresh memory otherwise cost as much as the parsing of a number.
            if (memory) madvise(memory, rounded, MADV_HUGEPAGE);
            return memory;
        }
#endif
        return std::malloc(bytes ? bytes : 1);
    }

    std::unique_ptr<T[], FreeBlock> memory_;
    std::size_t size_ = 0;
};

}  // namespace widemargin
