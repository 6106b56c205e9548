// A checked matrix as Python holds it: one of the storages of core/rows/rows.hpp, with whatever keeps its memory alive.
#pragma once

#include <any>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bind.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

class RowStore {
  public:
    using Storage =
        std::variant<SparseRows<float>, SparseRows<double>, UniformRows, DenseRows<float>, DenseRows<double>>;

    RowStore(Storage storage, std::vector<std::any> owners, bool canonical)
        : storage_(storage), owners_(std::move(owners)), canonical_(canonical) {}

    // The one dispatch on storage and value type.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), storage_);
    }

    int64_t n_rows() const {
        return visit([](const auto& X) { return X.n_rows; });
    }
    int64_t n_cols() const {
        return visit([](const auto& X) { return X.n_cols; });
    }
    int64_t nnz() const {
        return visit([](const auto& X) { return X.nnz(); });
    }
    bool canonical() const { return canonical_; }

  private:
    Storage storage_;
    std::vector<std::any> owners_;
    bool canonical_;
};

// A vector argument whose length the data dictate.
template <class T>
T* checked(const Array<T>& values, int64_t expected, const char* name) {
    if (int64_t(values.size()) != expected)
        throw std::invalid_argument(std::string(name) + " has length " + std::to_string(values.size()) + ", expected " +
                                    std::to_string(expected));
    return values.data();
}

// Coordinates are counted in 32 bits.
inline uint32_t checked_count(int64_t n, const char* what) {
    if (n > int64_t(UINT32_MAX)) throw std::invalid_argument(std::string("more than 4294967295 ") + what);
    return uint32_t(n);
}

using In = const double;  // an input vector's element
using Out = double;       // an output vector's element, written in place

}  // namespace widemargin
