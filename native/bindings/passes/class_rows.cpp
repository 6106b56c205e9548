// Products with one weight vector per class, and the multinomial logistic loss.
#include "core/passes/class_rows.hpp"

#include <nanobind/stl/tuple.h>

#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/losses/maximum_entropy.hpp"

namespace widemargin {
namespace {

using Codes = Array<const int32_t>;

int64_t checked_classes(int64_t n_classes) {
    if (n_classes < 1)
        throw std::invalid_argument("n_classes is " + std::to_string(n_classes) + ", it must be positive");
    return n_classes;
}

template <class Weight>
ClassWeights<Weight> checked_weights(const RowStore& X, const Array<Weight>& w, int64_t n_classes, double constant,
                                     const char* name) {
    ClassWeights<Weight> W{w.data(), X.n_cols(), checked_classes(n_classes), constant};
    checked(w, W.size(), name);
    return W;
}

void checked_codes(const Codes& y, int64_t n_rows, int64_t n_classes) {
    checked(y, n_rows, "y");
    for (size_t i = 0; i < y.size(); ++i)
        if (y.data()[i] < 0 || y.data()[i] >= n_classes)
            throw std::invalid_argument("y[" + std::to_string(i) + "] is " + std::to_string(y.data()[i]) +
                                        ", outside 0 .. " + std::to_string(n_classes - 1));
}

void class_scores_(const RowStore& X, Array<In> w, int64_t n_classes, double constant, Array<Out> z, int n_threads) {
    const auto W = checked_weights(X, w, n_classes, constant, "w");
    checked(z, X.n_rows() * n_classes, "z");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { class_scores(rows, W, z.data(), n_threads); });
}

void class_adjoint_(const RowStore& X, Array<In> u, int64_t n_classes, double constant, Array<Out> g, int n_threads) {
    const auto G = checked_weights(X, g, n_classes, constant, "g");
    checked(u, X.n_rows() * n_classes, "u");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { class_adjoint(rows, u.data(), G, n_threads); });
}

void entropy_hess_vec_(const RowStore& X, Array<In> p, Array<In> C, Array<In> v, int64_t n_classes, double constant,
                       Array<Out> q, Array<Out> t, Array<Out> g, int n_threads) {
    const int64_t m = X.n_rows();
    const auto V = checked_weights(X, v, n_classes, constant, "v");
    const auto G = checked_weights(X, g, n_classes, constant, "g");
    checked(C, m, "C"), checked(p, m * n_classes, "p"), checked(q, m * n_classes, "q"), checked(t, m * n_classes, "t");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { entropy_hess_vec(rows, p.data(), C.data(), V, q.data(), t.data(), G, n_threads); });
}

void class_column_sqnorms_(const RowStore& X, Array<In> h, int64_t n_classes, Array<Out> d) {
    const auto D = checked_weights(X, d, n_classes, 0.0, "d");
    checked(h, X.n_rows() * n_classes, "h");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { class_column_sqnorms(rows, h.data(), D); });
}

std::tuple<double, double, double> entropy_ray_(Codes y, Array<In> C, int64_t n_classes, Array<In> z, Array<In> dz,
                                                double t, Array<Out> p, int n_threads) {
    const auto m = int64_t(y.size());
    checked_codes(y, m, checked_classes(n_classes)), checked(C, m, "C");
    checked(z, m * n_classes, "z"), checked(dz, m * n_classes, "dz"), checked(p, m * n_classes, "p");
    nb::gil_scoped_release release;
    const RayLook found = entropy_ray(m, n_classes, y.data(), C.data(), z.data(), dz.data(), t, p.data(), n_threads);
    return {found.value, found.slope, found.curvature};
}

void dag_classes_(const RowStore& X, Array<In> models, Array<In> intercepts, int64_t n_classes, Array<int32_t> classes,
                  int n_threads) {
    const int64_t n_models = checked_classes(n_classes) * (n_classes - 1) / 2;
    checked(models, n_models * X.n_cols(), "models"), checked(intercepts, n_models, "intercepts");
    checked(classes, X.n_rows(), "classes");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) {
        dag_classes(rows, models.data(), intercepts.data(), n_classes, classes.data(), n_threads);
    });
}

}  // namespace

void bind_class_rows(nb::module_& m) {
    using nb::arg;
    m.def("class_scores", &class_scores_, arg("X"), arg("w"), arg("n_classes"), arg("constant"), arg("z").noconvert(),
          arg("n_threads") = 1);
    m.def("class_adjoint", &class_adjoint_, arg("X"), arg("u"), arg("n_classes"), arg("constant"), arg("g").noconvert(),
          arg("n_threads") = 1);
    m.def("entropy_hess_vec", &entropy_hess_vec_, arg("X"), arg("p"), arg("C"), arg("v"), arg("n_classes"),
          arg("constant"), arg("q").noconvert(), arg("t").noconvert(), arg("g").noconvert(), arg("n_threads") = 1);
    m.def("class_column_sqnorms", &class_column_sqnorms_, arg("X"), arg("h"), arg("n_classes"), arg("d").noconvert());
    m.def("entropy_ray", &entropy_ray_, arg("y"), arg("C"), arg("n_classes"), arg("z"), arg("dz"), arg("t"),
          arg("p").noconvert(), arg("n_threads") = 1);
    m.def("dag_classes", &dag_classes_, arg("X"), arg("models"), arg("intercepts"), arg("n_classes"),
          arg("classes").noconvert(), arg("n_threads") = 1);
}

}  // namespace widemargin
