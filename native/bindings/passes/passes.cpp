// Passes over the data, and what the losses tell without it.
#include "core/passes/passes.hpp"

#include "bindings/rows/row_store.hpp"
#include "core/losses/pointwise.hpp"
#include "core/passes/accurate.hpp"

namespace widemargin {
namespace {

void matvec_(const RowStore& X, Array<In> w, double b, Array<Out> z, int n_threads) {
    checked(w, X.n_cols(), "w"), checked(z, X.n_rows(), "z");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { matvec(rows, w.data(), b, z.data(), n_threads); });
}

void rmatvec_(const RowStore& X, Array<In> u, Array<Out> g, int n_threads) {
    checked(u, X.n_rows(), "u"), checked(g, X.n_cols(), "g");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { rmatvec(rows, u.data(), g.data(), n_threads); });
}

void accurate_rmatvec_(const RowStore& X, Array<In> u, Array<Out> g) {
    checked(u, X.n_rows(), "u"), checked(g, X.n_cols(), "g");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { accurate_rmatvec(rows, u.data(), g.data()); });
}

void add_accurately_(const RowStore& X, Array<In> u, Array<Out> g, Array<Out> error) {
    checked(u, X.n_rows(), "u"), checked(g, X.n_cols(), "g"), checked(error, X.n_cols(), "error");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { add_accurately(rows, u.data(), g.data(), error.data()); });
}

double hess_vec_(const RowStore& X, Array<In> h, Array<In> v, double c, Array<Out> t, Array<Out> g, int n_threads) {
    checked(h, X.n_rows(), "h"), checked(t, X.n_rows(), "t");
    checked(v, X.n_cols(), "v"), checked(g, X.n_cols(), "g");
    nb::gil_scoped_release release;
    return X.visit(
        [&](const auto& rows) { return hess_vec(rows, h.data(), v.data(), c, t.data(), g.data(), n_threads); });
}

void weighted_column_sqnorms_(const RowStore& X, Array<In> h, Array<Out> d, int n_threads) {
    checked(h, X.n_rows(), "h"), checked(d, X.n_cols(), "d");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { weighted_column_sqnorms(rows, h.data(), d.data(), n_threads); });
}

void row_sqnorms_(const RowStore& X, Array<Out> out) {
    checked(out, X.n_rows(), "out");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { row_sqnorms(rows, out.data()); });
}

template <class F>
double with_pointwise(const LossSpec& loss, Array<In> z, Array<In> y, Array<In> C, F&& f) {
    const auto n = int64_t(z.size());
    checked(y, n, "y"), checked(C, n, "C");
    nb::gil_scoped_release release;
    return with_loss(loss, [&](const auto& l) {
        return f(Pointwise<std::remove_cvref_t<decltype(l)>>{l, n, z.data(), y.data(), C.data()});
    });
}

double loss_sum(const LossSpec& loss, Array<In> z, Array<In> y, Array<In> C, double b) {
    return with_pointwise(loss, z, y, C, [&](const auto& at) { return at.value(b); });
}

double best_intercept_(const LossSpec& loss, Array<In> z, Array<In> y, Array<In> C, double start) {
    return with_pointwise(loss, z, y, C, [&](const auto& at) { return best_intercept(at, start); });
}

// u_i = C_i loss'(z_i + b) and h_i = C_i loss''(z_i + b)
void loss_derivatives(const LossSpec& loss, Array<In> z, Array<In> y, Array<In> C, double b, Array<Out> u,
                      Array<Out> h) {
    const auto n = int64_t(z.size());
    checked(u, n, "u"), checked(h, n, "h");
    with_pointwise(loss, z, y, C, [&](const auto& at) {
        for (int64_t i = 0; i < n; ++i) {
            u.data()[i] = at.C[i] * at.loss.derivative(at.z[i] + b, at.y[i]);
            h.data()[i] = at.C[i] * at.loss.curvature(at.z[i] + b, at.y[i]);
        }
        return 0.0;
    });
}

double conjugate_sum_(const LossSpec& loss, Array<In> u, Array<In> y, Array<In> C) {
    return with_pointwise(loss, u, y, C,
                          [&](const auto& at) { return conjugate_sum(at.loss, at.n, at.z, at.y, at.C); });
}

}  // namespace

void bind_passes(nb::module_& m) {
    using nb::arg;
    m.def("matvec", &matvec_, arg("X"), arg("w"), arg("b"), arg("z").noconvert(), arg("n_threads") = 1);
    m.def("accurate_rmatvec", &accurate_rmatvec_, arg("X"), arg("u"), arg("g").noconvert());
    m.def("add_accurately", &add_accurately_, arg("X"), arg("u"), arg("g").noconvert(), arg("error").noconvert());
    m.def("rmatvec", &rmatvec_, arg("X"), arg("u"), arg("g").noconvert(), arg("n_threads") = 1);
    m.def("hess_vec", &hess_vec_, arg("X"), arg("h"), arg("v"), arg("c"), arg("t").noconvert(), arg("g").noconvert(),
          arg("n_threads") = 1);
    m.def("weighted_column_sqnorms", &weighted_column_sqnorms_, arg("X"), arg("h"), arg("d").noconvert(),
          arg("n_threads") = 1);
    m.def("row_sqnorms", &row_sqnorms_, arg("X"), arg("out").noconvert());
    m.def("loss_sum", &loss_sum, arg("loss"), arg("z"), arg("y"), arg("C"), arg("b"));
    m.def("best_intercept", &best_intercept_, arg("loss"), arg("z"), arg("y"), arg("C"), arg("start"));
    m.def("loss_derivatives", &loss_derivatives, arg("loss"), arg("z"), arg("y"), arg("C"), arg("b"),
          arg("u").noconvert(), arg("h").noconvert());
    m.def("conjugate_sum", &conjugate_sum_, arg("loss"), arg("u"), arg("y"), arg("C"));
}

}  // namespace widemargin
