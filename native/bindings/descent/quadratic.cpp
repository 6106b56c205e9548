// Small dense quadratics with an l1 penalty.
#include "core/descent/quadratic.hpp"

#include <string>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

void add_outer_products_(const RowStore& X, Array<const uint32_t> rows, Array<In> weights, Array<const int32_t> place,
                         double constant, int64_t n, Array<Out> H) {
    checked(weights, X.n_rows(), "weights"), checked(place, X.n_cols(), "place"), checked(H, n * n, "H");
    if (n < 1) throw std::invalid_argument("n must be at least 1");
    const std::vector<uint32_t> list(rows.data(), rows.data() + rows.size());
    for (const uint32_t i : list)
        if (int64_t(i) >= X.n_rows()) throw std::invalid_argument("row " + std::to_string(i) + " does not exist");
    int32_t previous = -1;
    for (size_t j = 0; j < place.size(); ++j) {
        const int32_t p = place.data()[j];
        if (p < 0) continue;
        if (p <= previous || p >= n) throw std::invalid_argument("places must ascend from 0 and stay below n");
        previous = p;
    }
    nb::gil_scoped_release release;
    X.visit([&](const auto& storage) {
        add_outer_products(storage, list, weights.data(), place.data(), constant, n, H.data());
    });
    mirror(n, H.data());
}

double quadratic_passes_(Array<In> H, Array<In> rho, Array<In> bend, Array<Out> slope, Array<Out> w, double share,
                         int64_t max_passes) {
    const auto n = int64_t(w.size());
    checked(H, n * n, "H"), checked(rho, n, "rho"), checked(bend, n, "bend"), checked(slope, n, "slope");
    nb::gil_scoped_release release;
    return quadratic_passes(n, H.data(), rho.data(), bend.data(), slope.data(), w.data(), share, max_passes);
}

bool cholesky_solve_(Array<Out> H, Array<Out> right) {
    const auto n = int64_t(right.size());
    checked(H, n * n, "H");
    nb::gil_scoped_release release;
    return cholesky_solve(n, H.data(), right.data());
}

}  // namespace

void bind_quadratic(nb::module_& m) {
    using nb::arg;
    m.def("add_outer_products", &add_outer_products_, arg("X"), arg("rows"), arg("weights"), arg("place"),
          arg("constant"), arg("n"), arg("H").noconvert());
    m.def("cholesky_solve", &cholesky_solve_, arg("H").noconvert(), arg("right").noconvert());
    m.def("quadratic_passes", &quadratic_passes_, arg("H"), arg("rho"), arg("bend"), arg("slope").noconvert(),
          arg("w").noconvert(), arg("share"), arg("max_passes"));
}

}  // namespace widemargin
