// The exact line search over piecewise quadratics, and Hessian products of terms that share their rows.
#include "core/losses/piecewise.hpp"

#include "bindings/rows/row_store.hpp"

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

}  // namespace

void bind_piecewise(nb::module_& m) {
    using nb::arg;
    m.def("ramp_line_search", &ramp_line_search_, arg("r"), arg("d"), arg("k"), arg("shift"), arg("lo"), arg("hi"),
          arg("slope"), arg("curvature"));
}

}  // namespace widemargin
