// The weights of all classes while a dual method moves them: W[feature][class] like class_rows.hpp, padded to whole
// groups of four classes, so that an entry of the data meets full vector registers and nothing else. Up to 32 classes
// (24 in double precision) are taken in one walk along the row.
//
// T is float where the tolerance allows it: half the memory, which is what such a pass waits for. The weights are
// built anew from the dual variables when it matters (`rebuild`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/system/huge.hpp"

namespace widemargin {

// As many numbers as a register of 16 bytes holds, which every machine has; wider ones would be split on the stack.
template <class T>
struct Lanes {
    static constexpr int width = 16 / int(sizeof(T));
#if defined(__GNUC__)
    typedef T Vector __attribute__((vector_size(16)));
    Vector value;

    static Lanes all(T x) {
        if constexpr (width == 4)
            return {Vector{x, x, x, x}};
        else
            return {Vector{x, x}};
    }
    static Lanes read(const T* from) {
        Lanes lanes;
        std::memcpy(&lanes.value, from, 16);
        return lanes;
    }
    void write(T* to) const { std::memcpy(to, &value, 16); }
    Lanes plus(const Lanes& factor, const Lanes& other) const { return {value + factor.value * other.value}; }
#else
    T value[width];

    static Lanes all(T x) {
        Lanes lanes;
        std::fill_n(lanes.value, width, x);
        return lanes;
    }
    static Lanes read(const T* from) {
        Lanes lanes;
        std::copy_n(from, width, lanes.value);
        return lanes;
    }
    void write(T* to) const { std::copy_n(value, width, to); }
    Lanes plus(const Lanes& factor, const Lanes& other) const {
        Lanes sum;
        for (int c = 0; c < width; ++c) sum.value[c] = value[c] + factor.value[c] * other.value[c];
        return sum;
    }
#endif
};

// Calls f(0), f(1), ..., f(N - 1), written out: what f holds in an array stays in registers.
template <int N, class F>
inline void unrolled(F&& f) {
    [&]<int... Index>(std::integer_sequence<int, Index...>) {
        (f(std::integral_constant<int, Index>{}), ...);
    }(std::make_integer_sequence<int, N>{});
}

template <class T>
class ClassTable {
  public:
    void resize(int64_t n_features, int64_t n_classes) {
        groups_ = groups_of(n_classes);
        w_.assign(size_t(n_features * stride()), T(0));
    }

    // The classes `chosen`, ascending, alone go on.
    void keep(const std::vector<uint32_t>& chosen) {
        const int64_t before = stride(), n_features = int64_t(w_.size()) / before;
        groups_ = groups_of(int64_t(chosen.size()));
        const int64_t after = stride();
        for (int64_t j = 0; j < n_features; ++j) {
            T* to = w_.data() + j * after;
            const T* from = w_.data() + j * before;
            // In place: no entry is written before it was read, because chosen[c] >= c and after <= before.
            for (size_t c = 0; c < chosen.size(); ++c) to[c] = from[chosen[c]];
            std::fill(to + chosen.size(), to + after, T(0));
        }
        w_.resize(size_t(n_features * after));
    }

    // Classes with the padding: how long the vectors below must be.
    int64_t stride() const { return group * groups_; }
    void clear() { std::fill(w_.begin(), w_.end(), T(0)); }

    // z = x W, padding included.
    template <class Row>
    void scores(const Row& x, T* z) const {
        over_groups([&]<int Groups>(int64_t first) { add_scores<Groups>(x, w_.data() + first, z + first); });
    }

    // W += x^T u, padding included.
    template <class Row>
    void add(const Row& x, const T* u) {
        over_groups([&]<int Groups>(int64_t first) { add_outer<Groups>(x, u + first, w_.data() + first); });
    }

    // z = W x for a few classes alone, m[0 .. count): z_c belongs to class m_c.
    template <class Row>
    void few_scores(const Row& x, const uint32_t* m, int64_t count, T* z) const {
        over_few(count, [&]<int Width>(int64_t c) { some_scores<Width>(x, m + c, z + c); });
    }
    // W += x^T u for a few classes alone, m[0 .. count): u_c belongs to class m_c.
    template <class Row>
    void few_add(const Row& x, const uint32_t* m, int64_t count, const T* u) {
        over_few(count, [&]<int Width>(int64_t c) { some_outer<Width>(x, m + c, u + c); });
    }
    // Up to so many classes, one by one, cost less than all of them in groups.
    int64_t few() const { return std::max<int64_t>(2, stride() / 6); }

  private:
    static constexpr int group = 4;
    static constexpr int most_groups = sizeof(T) == 4 ? 8 : 6;  // what the registers hold, with some to spare

    static int64_t groups_of(int64_t n_classes) { return (n_classes + group - 1) / group; }

    // Calls f.template operator()<Groups>(first class) for pieces of most_groups and one of what is left.
    template <class F>
    void over_groups(F&& f) const {
        int64_t g = 0;
        for (; g + most_groups <= groups_; g += most_groups) f.template operator()<most_groups>(group * g);
        unrolled<most_groups>([&](auto left) {
            if constexpr (left > 0)
                if (groups_ - g == left) f.template operator()<left>(group * g);
        });
    }
    template <class F>
    static void over_few(int64_t count, F&& f) {
        int64_t c = 0;
        for (; c + 4 <= count; c += 4) f.template operator()<4>(c);
        if (count - c == 3) f.template operator()<3>(c);
        if (count - c == 2) f.template operator()<2>(c);
        if (count - c == 1) f.template operator()<1>(c);
    }

    template <int Groups, class Row>
    void add_scores(const Row& x, const T* w, T* z) const {
        constexpr int n = Groups * group / Lanes<T>::width, width = Lanes<T>::width;
        Lanes<T> s[n];
        unrolled<n>([&](auto g) { s[g] = Lanes<T>::all(T(0)); });
        const int64_t step = stride();
        x.for_each([&](int32_t j, double v) {
            const T* at = w + int64_t(j) * step;
            const auto factor = Lanes<T>::all(T(v));
            unrolled<n>([&](auto g) { s[g] = s[g].plus(factor, Lanes<T>::read(at + width * g)); });
        });
        unrolled<n>([&](auto g) { s[g].write(z + width * g); });
    }
    template <int Groups, class Row>
    void add_outer(const Row& x, const T* u, T* w) const {
        constexpr int n = Groups * group / Lanes<T>::width, width = Lanes<T>::width;
        Lanes<T> s[n];
        unrolled<n>([&](auto g) { s[g] = Lanes<T>::read(u + width * g); });
        const int64_t step = stride();
        x.for_each([&](int32_t j, double v) {
            T* at = w + int64_t(j) * step;
            const auto factor = Lanes<T>::all(T(v));
            unrolled<n>([&](auto g) { Lanes<T>::read(at + width * g).plus(factor, s[g]).write(at + width * g); });
        });
    }
    template <int Width, class Row>
    void some_scores(const Row& x, const uint32_t* m, T* z) const {
        uint32_t at_class[Width];
        T s[Width] = {};
        for (int c = 0; c < Width; ++c) at_class[c] = m[c];
        const int64_t step = stride();
        x.for_each([&](int32_t j, double v) {
            const T* at = w_.data() + int64_t(j) * step;
            for (int c = 0; c < Width; ++c) s[c] += T(v) * at[at_class[c]];
        });
        for (int c = 0; c < Width; ++c) z[c] = s[c];
    }
    template <int Width, class Row>
    void some_outer(const Row& x, const uint32_t* m, const T* u) {
        uint32_t at_class[Width];
        T d[Width];
        for (int c = 0; c < Width; ++c) at_class[c] = m[c], d[c] = u[c];
        const int64_t step = stride();
        T* w = w_.data();
        x.for_each([&](int32_t j, double v) {
            T* at = w + int64_t(j) * step;
            for (int c = 0; c < Width; ++c) at[at_class[c]] += T(v) * d[c];
        });
    }

    int64_t groups_ = 0;
    HugeVector<T> w_;
};

}  // namespace widemargin
