// The Hessian's data part, for Newton's method with a factorisation.
#include "core/passes/gram.hpp"

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

using Square = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_order(const Square& matrix, const RowStore& X, double s) {
    const int64_t order = X.n_cols() + (s != 0 ? 1 : 0);
    if (int64_t(matrix.shape(1)) != order)
        throw std::invalid_argument("the matrix has " + std::to_string(matrix.shape(1)) + " columns, expected " +
                                    std::to_string(order));
}

void add_gram_(const RowStore& X, Array<In> h, double s, Square H, int n_threads) {
    checked(h, X.n_rows(), "h");
    check_order(H, X, s);
    if (H.shape(0) != H.shape(1)) throw std::invalid_argument("H must be square");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { add_gram(rows, h.data(), s, H.data(), n_threads); });
}

int64_t gather_scaled_(const RowStore& X, Array<In> h, double sign, int64_t first, int64_t last, double s, Square out) {
    checked(h, X.n_rows(), "h");
    check_order(out, X, s);
    if (first < 0 || last > X.n_rows() || first > last) throw std::invalid_argument("first and last are no rows");
    if (last - first > int64_t(out.shape(0))) throw std::invalid_argument("out has too few lines for these rows");
    nb::gil_scoped_release release;
    return X.visit([&](const auto& rows) { return gather_scaled(rows, h.data(), sign, first, last, s, out.data()); });
}

}  // namespace

void bind_gram(nb::module_& m) {
    using nb::arg;
    m.def("add_gram", &add_gram_, arg("X"), arg("h"), arg("s"), arg("H").noconvert(), arg("n_threads") = 1);
    m.def("gather_scaled", &gather_scaled_, arg("X"), arg("h"), arg("sign"), arg("first"), arg("last"), arg("s"),
          arg("out").noconvert());
}

}  // namespace widemargin
