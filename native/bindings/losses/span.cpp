// Losses of predictions in a span.
#include "core/losses/span.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <stdexcept>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

double span_losses(const LossSpec& loss, const std::vector<Array<In>>& z, Array<In> y, Array<In> C, Array<In> a,
                   Array<Out> gradient, Array<Out> hessian) {
    const auto n = int64_t(y.size());
    const auto K = int64_t(z.size());
    if (K < 1 || K > most_in_span) throw std::invalid_argument("a span is of 1 to 4 vectors");
    checked(C, n, "C"), checked(a, K, "a"), checked(gradient, K, "gradient"), checked(hessian, K * K, "hessian");
    std::array<const double*, most_in_span> columns{};
    for (int64_t k = 0; k < K; ++k) checked(z[size_t(k)], n, "z"), columns[size_t(k)] = z[size_t(k)].data();
    nb::gil_scoped_release release;
    return with_loss(loss, [&](const auto& l) {
        return span_pass(l, int(K), n, columns.data(), y.data(), C.data(), a.data(), gradient.data(), hessian.data());
    });
}

}  // namespace

void bind_span(nb::module_& m) {
    using nb::arg;
    m.def("span_losses", &span_losses, arg("loss"), arg("z"), arg("y"), arg("C"), arg("a"), arg("gradient").noconvert(),
          arg("hessian").noconvert());
}

}  // namespace widemargin
