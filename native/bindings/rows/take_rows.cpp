// Rows out again: some of them as a matrix of their own, or all of them as arrays.
#include "core/rows/take_rows.hpp"

#include <string>

#include "bindings/rows/row_store.hpp"

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

// Sparse: indptr, indices, values. Dense: the values, row by row.
struct AsArrays {
    template <class T>
    nb::tuple operator()(const SparseRows<T>& X) const {
        const int64_t count = X.indptr[X.n_rows];
        return sparse(X, std::vector<T>(X.values, X.values + count));
    }
    nb::tuple operator()(const UniformRows& X) const {
        std::vector<double> values;
        for (int64_t i = 0; i < X.n_rows; ++i) values.insert(values.end(), size_t(X.nnz(i)), X.row_values[i]);
        return sparse(X, std::move(values));
    }
    template <class T>
    nb::tuple operator()(const DenseRows<T>& X) const {
        std::vector<T> values(size_t(X.n_rows) * size_t(X.n_cols));
        for (int64_t i = 0; i < X.n_rows; ++i)
            std::copy_n(X.data + i * X.stride, X.n_cols, values.begin() + i * X.n_cols);
        return nb::make_tuple(to_numpy(std::move(values)));
    }
    template <class Rows, class T>
    static nb::tuple sparse(const Rows& X, std::vector<T>&& values) {
        std::vector<int64_t> indptr(X.indptr, X.indptr + X.n_rows + 1);
        std::vector<int32_t> indices(X.indices, X.indices + indptr.back());
        return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(values)));
    }
};

nb::tuple row_arrays(const RowStore& X) {
    return X.visit(AsArrays{});
}

}  // namespace

void bind_take_rows(nb::module_& m) {
    m.def("take_rows", &take_rows, nb::arg("X"), nb::arg("rows"));
    m.def("row_arrays", &row_arrays, nb::arg("X"), "Copies: indptr, indices and values, or the values of dense rows.");
}

}  // namespace widemargin
