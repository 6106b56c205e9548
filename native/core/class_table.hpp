// The weights of all classes while a dual method moves them: W[feature][class] like class_rows.hpp, padded to whole
// groups of eight classes, so that an entry of the data meets full vector registers and nothing else. Up to 32 classes
// are taken in one walk along the row.
//
// T is float where the tolerance allows it: half the memory, which is what such a pass waits for. The weights are
// built anew from the dual variables when it matters (`rebuild`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/huge.hpp"
#include "core/rows.hpp"

namespace widemargin {

// Eight numbers that are added and multiplied together.
template <class T>
struct Eight {
#if defined(__GNUC__)
    typedef T Vector __attribute__((vector_size(8 * sizeof(T))));
    Vector value = {};

    static Eight read(const T* from) {
        Eight e;
        std::memcpy(&e.value, from, sizeof(Vector));
        return e;
    }
    void write(T* to) const { std::memcpy(to, &value, sizeof(Vector)); }
    void add(T factor, const Eight& other) { value += factor * other.value; }
#else
    T value[8] = {};

    static Eight read(const T* from) {
        Eight e;
        std::copy_n(from, 8, e.value);
        return e;
    }
    void write(T* to) const { std::copy_n(value, 8, to); }
    void add(T factor, const Eight& other) {
        for (int c = 0; c < 8; ++c) value[c] += factor * other.value[c];
    }
#endif
};

template <class T>
class ClassTable {
  public:
    void resize(int64_t n_features, int64_t n_classes) {
        groups_ = (n_classes + 7) / 8;
        w_.assign(size_t(n_features * stride()), T(0));
    }

    // Classes with the padding: how long the vectors below must be.
    int64_t stride() const { return 8 * groups_; }
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

    // The same for a few classes alone, m[0 .. count): z_c and u_c belong to class m_c.
    template <class Row>
    void few_scores(const Row& x, const uint32_t* m, int64_t count, T* z) const {
        over_few(count, [&]<int Width>(int64_t c) { some_scores<Width>(x, m + c, z + c); });
    }
    template <class Row>
    void few_add(const Row& x, const uint32_t* m, int64_t count, const T* u) {
        over_few(count, [&]<int Width>(int64_t c) { some_outer<Width>(x, m + c, u + c); });
    }
    // Up to so many classes, one by one, cost less than all of them in groups.
    int64_t few() const { return groups_ < 3 ? 2 : stride() / 6; }

    // Asks for the weights that the first entries of a row will read.
    template <class Row>
    void prefetch_weights(const Row& x) const {
        const int64_t n = std::min<int64_t>(x.size, 16);
        for (int64_t k = 0; k < n; ++k)
            prefetch_block(w_.data() + int64_t(x.column(k)) * stride(), stride() * int64_t(sizeof(T)));
    }

  private:
    template <class F>
    void over_groups(F&& f) const {
        int64_t g = 0;
        for (; g + 4 <= groups_; g += 4) f.template operator()<4>(8 * g);
        if (groups_ - g == 3) f.template operator()<3>(8 * g);
        if (groups_ - g == 2) f.template operator()<2>(8 * g);
        if (groups_ - g == 1) f.template operator()<1>(8 * g);
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
        Eight<T> s[Groups];
        const int64_t step = stride();
        x.for_each([&](int32_t j, double v) {
            const T* at = w + int64_t(j) * step;
            for (int g = 0; g < Groups; ++g) s[g].add(T(v), Eight<T>::read(at + 8 * g));
        });
        for (int g = 0; g < Groups; ++g) s[g].write(z + 8 * g);
    }
    template <int Groups, class Row>
    void add_outer(const Row& x, const T* u, T* w) const {
        Eight<T> s[Groups];
        for (int g = 0; g < Groups; ++g) s[g] = Eight<T>::read(u + 8 * g);
        const int64_t step = stride();
        x.for_each([&](int32_t j, double v) {
            T* at = w + int64_t(j) * step;
            for (int g = 0; g < Groups; ++g) {
                Eight<T> sum = Eight<T>::read(at + 8 * g);
                sum.add(T(v), s[g]);
                sum.write(at + 8 * g);
            }
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
