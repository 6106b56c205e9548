// Some rows of a matrix as a matrix of their own.
#include "core/take_rows.hpp"

#include <string>

#include "row_store.hpp"

namespace widemargin {
namespace {

struct Take {
    const std::vector<int64_t>& wanted;
    int64_t count() const { return int64_t(wanted.size()); }

    template <class T>
    RowStore operator()(const SparseRows<T>& X) const {
        auto kept = std::make_shared<OwnedSparse<T>>(take_sparse(X, wanted));
        return {SparseRows<T>{count(), X.n_cols, kept->indptr.data(), kept->indices.data(), kept->values.data()},
                {kept},
                true};
    }
    RowStore operator()(const UniformRows& X) const {
        auto kept = std::make_shared<OwnedSparse<double>>(take_uniform(X, wanted));
        return {UniformRows{count(), X.n_cols, kept->indptr.data(), kept->indices.data(), kept->values.data()},
                {kept},
                true};
    }
    template <class T>
    RowStore operator()(const DenseRows<T>& X) const {
        auto kept = std::make_shared<std::vector<T>>(take_dense(X, wanted));
        return {DenseRows<T>{count(), X.n_cols, kept->data(), X.n_cols}, {kept}, true};
    }
};

RowStore take_rows(const RowStore& X, Array<const int64_t> rows) {
    const std::vector<int64_t> wanted(rows.data(), rows.data() + rows.size());
    for (const int64_t i : wanted)
        if (i < 0 || i >= X.n_rows())
            throw std::invalid_argument("row " + std::to_string(i) + " of " + std::to_string(X.n_rows()));
    nb::gil_scoped_release release;
    return X.visit(Take{wanted});
}

}  // namespace

void bind_take_rows(nb::module_& m) {
    m.def("take_rows", &take_rows, nb::arg("X"), nb::arg("rows"));
}

}  // namespace widemargin
