// The exact line search over piecewise quadratics, and Hessian products of terms that share their rows.
#include "core/losses/piecewise.hpp"

#include "bindings/rows/row_store.hpp"
#include "core/passes/shared_rows.hpp"

namespace widemargin {
namespace {

double ramp_line_search_(Array<In> r, Array<In> d, Array<In> k, double shift, double lo, double hi, double slope,
                         double curvature) {
    const auto n = int64_t(r.size());
    checked(d, n, "d"), checked(k, n, "k");
    if (!(lo <= hi)) throw std::invalid_argument("lo must not exceed hi");
    nb::gil_scoped_release release;
    return ramp_line_search({n, r.data(), d.data(), k.data(), shift, lo, hi}, slope, curvature);
}

void shared_hess_vec_(const RowStore& X, Array<In> h, Array<In> e, Array<In> v, Array<Out> q, Array<Out> u,
                      Array<Out> g, int n_threads) {
    const int64_t m = X.n_rows();
    checked(h, m, "h"), checked(e, m, "e"), checked(q, m, "q"), checked(u, m, "u");
    checked(v, X.n_cols(), "v"), checked(g, X.n_cols(), "g");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) {
        shared_hess_vec(rows, h.data(), e.data(), v.data(), q.data(), u.data(), g.data(), n_threads);
    });
}

}  // namespace

void bind_piecewise(nb::module_& m) {
    using nb::arg;
    m.def("ramp_line_search", &ramp_line_search_, arg("r"), arg("d"), arg("k"), arg("shift"), arg("lo"), arg("hi"),
          arg("slope"), arg("curvature"));
    m.def("shared_hess_vec", &shared_hess_vec_, arg("X"), arg("h"), arg("e"), arg("v"), arg("q").noconvert(),
          arg("u").noconvert(), arg("g").noconvert(), arg("n_threads") = 1);
}

}  // namespace widemargin
