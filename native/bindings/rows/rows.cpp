// Construction of a checked matrix, and its transpose.
#include "core/rows/rows.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>

#include "bindings/rows/row_store.hpp"
#include "core/rows/check.hpp"
#include "core/rows/transpose.hpp"

namespace widemargin {
namespace {

constexpr int64_t most_columns = 2147483646;

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
RowStore make_sparse(Array<const int64_t> indptr, Array<const int32_t> indices, Array<const T> values, int64_t n_cols,
                     bool transposed) {
    if (indptr.size() < 1) reject("indptr is empty, it needs one entry per row and one more");
    if (indices.size() != values.size()) reject("indices and values differ in length");
    if (n_cols < 0 || n_cols > most_columns) reject("the number of columns is outside 0 .. 2147483646");
    const auto n_rows = int64_t(indptr.size()) - 1;
    const Axes axes = transposed ? by_columns : by_rows;
    SparseFacts<T> facts;
    {
        nb::gil_scoped_release release;
        check_row_pointers(indptr.data(), n_rows, int64_t(indices.size()), axes);
        facts = check_entries(indptr.data(), indices.data(), values.data(), n_rows, n_cols, axes);
    }
    std::vector<std::any> owners{indptr, indices};
    if (facts.uniform) {
        auto kept = std::make_shared<std::vector<double>>(std::move(facts.uniform_value));
        owners.emplace_back(kept);
        return {UniformRows{n_rows, n_cols, indptr.data(), indices.data(), kept->data()}, std::move(owners),
                facts.canonical};
    }
    owners.emplace_back(values);
    return {SparseRows<T>{n_rows, n_cols, indptr.data(), indices.data(), values.data()}, std::move(owners),
            facts.canonical};
}

template <class T>
RowStore make_dense(Dense<T> data) {
    const auto n_rows = int64_t(data.shape(0)), n_cols = int64_t(data.shape(1));
    if (n_cols > most_columns) reject("the number of columns is outside 0 .. 2147483646");
    if (n_cols > 1 && data.stride(1) != 1) reject("rows must be contiguous");
    {
        nb::gil_scoped_release release;
        check_dense(data.data(), n_rows, n_cols, data.stride(0), int64_t(1));
    }
    return {DenseRows<T>{n_rows, n_cols, data.data(), data.stride(0)}, {data}, true};
}

template <class T>
RowStore owned_sparse(OwnedSparse<T>&& built, int64_t n_rows, int64_t n_cols) {
    auto kept = std::make_shared<OwnedSparse<T>>(std::move(built));
    return {
        SparseRows<T>{n_rows, n_cols, kept->indptr.data(), kept->indices.data(), kept->values.data()}, {kept}, true};
}

struct Transpose {
    template <class T>
    RowStore operator()(const SparseRows<T>& X) const {
        return owned_sparse(transpose_sparse<T>(X), X.n_cols, X.n_rows);
    }
    RowStore operator()(const UniformRows& X) const {
        OwnedSparse<double> built = transpose_sparse<double>(X);
        const auto& values = built.values;
        if (!std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); }))
            return owned_sparse(std::move(built), X.n_cols, X.n_rows);
        // One value in the whole matrix (binary features): the columns need no values either.
        std::vector<double>(size_t(X.n_cols), values.empty() ? 0.0 : values.front()).swap(built.values);
        auto kept = std::make_shared<OwnedSparse<double>>(std::move(built));
        return {UniformRows{X.n_cols, X.n_rows, kept->indptr.data(), kept->indices.data(), kept->values.data()},
                {kept},
                true};
    }
    template <class T>
    RowStore operator()(const DenseRows<T>& X) const {
        auto kept = std::make_shared<std::vector<T>>(transpose_dense(X));
        return {DenseRows<T>{X.n_cols, X.n_rows, kept->data(), X.n_rows}, {kept}, true};
    }
};

RowStore transpose(const RowStore& X) {
    if (X.n_rows() > most_columns) reject("more than 2147483646 rows cannot be transposed");
    nb::gil_scoped_release release;
    return X.visit(Transpose{});
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<RowStore>(m, "Rows", "A checked matrix, ready for passes over its rows.")
        .def_static("sparse", &make_sparse<float>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
                    nb::arg("n_cols"), nb::arg("transposed") = false)
        .def_static("sparse", &make_sparse<double>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
                    nb::arg("n_cols"), nb::arg("transposed") = false)
        .def_static("dense", &make_dense<float>, nb::arg("data"))
        .def_static("dense", &make_dense<double>, nb::arg("data"))
        .def("transpose", &transpose)
        .def_prop_ro("n_rows", &RowStore::n_rows)
        .def_prop_ro("n_cols", &RowStore::n_cols)
        .def_prop_ro("nnz", &RowStore::nnz)
        .def_prop_ro("canonical", &RowStore::canonical, "Whether columns ascend strictly in every row.")
        .def_prop_ro("uniform", [](const RowStore& X) {
            return X.visit([]<class Rows>(const Rows&) { return std::is_same_v<Rows, UniformRows>; });
        });
}

}  // namespace widemargin
