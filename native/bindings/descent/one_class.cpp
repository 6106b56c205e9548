// Sweeps of two-variable steps for the one-class SVM.
#include "core/descent/one_class.hpp"

#include <string>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

OneClassReport one_class_sweeps(const RowStore& X, Array<const uint32_t> working, Array<In> upper, Array<In> sqnorms,
                                Array<Out> alpha, Array<Out> w, double target, int64_t max_sweeps, double max_seconds) {
    const int64_t n = X.n_rows();
    const double* upper_data = checked(upper, n, "upper");
    const double* sqnorm_data = checked(sqnorms, n, "sqnorms");
    double* alpha_data = checked(alpha, n, "alpha");
    double* w_data = checked(w, X.n_cols(), "w");
    const std::vector<uint32_t> list(working.data(), working.data() + working.size());
    for (const uint32_t i : list)
        if (int64_t(i) >= n)
            throw std::invalid_argument("working row " + std::to_string(i) + " of " + std::to_string(n));
    nb::gil_scoped_release release;
    return X.visit([&]<class Rows>(const Rows& rows) {
        OneClassSweeps<Rows> sweeps(rows, upper_data, sqnorm_data, alpha_data, w_data);
        return sweeps.run(list, target, max_sweeps, max_seconds);
    });
}

}  // namespace

void bind_one_class(nb::module_& m) {
    using nb::arg;
    nb::class_<OneClassReport>(m, "OneClassReport")
        .def_ro("sweeps", &OneClassReport::sweeps)
        .def_ro("steps", &OneClassReport::steps)
        .def_ro("violation", &OneClassReport::violation);
    m.def("one_class_sweeps", &one_class_sweeps, arg("X"), arg("working"), arg("upper"), arg("sqnorms"),
          arg("alpha").noconvert(), arg("w").noconvert(), arg("target"), arg("max_sweeps"), arg("max_seconds"));
}

}  // namespace widemargin
