// Compact rows, kept alive by the matrix they become.
#include "core/rows/compact.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

using PrivatePart = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

struct Compact {
    std::vector<double>& private_part;

    template <class T>
    RowStore operator()(const SparseRows<T>& X) const {
        if constexpr (!std::is_same_v<T, float>)
            if (fits_float(X.values, X.nnz())) return with_values<float>(X);
        return with_values<T>(X);
    }
    RowStore operator()(const UniformRows& X) const {
        auto kept = keep(compact<float>(X, false));
        auto scale = std::make_shared<std::vector<double>>(X.row_values, X.row_values + X.n_rows);
        return {UniformRows{X.n_rows, kept->n_cols, kept->indptr.data(), kept->indices.data(), scale->data()},
                {kept, scale},
                false};
    }
    template <class T>
    RowStore operator()(const DenseRows<T>&) const {
        throw std::invalid_argument("dense rows have nothing to compact");
    }

  private:
    template <class T, class Rows>
    RowStore with_values(const Rows& X) const {
        auto kept = keep(compact<T>(X, true));
        return {SparseRows<T>{X.n_rows, kept->n_cols, kept->indptr.data(), kept->indices.data(), kept->values.data()},
                {kept},
                false};
    }
    template <class T>
    std::shared_ptr<CompactRows<T>> keep(CompactRows<T>&& built) const {
        private_part = std::move(built.private_part);
        return std::make_shared<CompactRows<T>>(std::move(built));
    }
};

std::pair<RowStore, PrivatePart> compact_rows(const RowStore& X) {
    std::vector<double> private_part;
    auto build = [&] {
        nb::gil_scoped_release release;
        return X.visit(Compact{private_part});
    };
    RowStore rows = build();
    return {std::move(rows), to_numpy(std::move(private_part))};
}

}  // namespace

void bind_compact(nb::module_& m) {
    m.def("compact", &compact_rows, nb::arg("X"),
          "Rows without private features, columns hot first, values narrow; and the private part of each row.");
}

}  // namespace widemargin
