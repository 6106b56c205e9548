#include "core/losses/line_search.hpp"

#include "bindings/rows/row_store.hpp"

namespace widemargin {

void bind_line_search(nb::module_& m) {
    using nb::arg;
    m.def(
        "hinge_line_search",
        [](Array<In> z, Array<In> e, Array<In> y, Array<In> C, double slope, double curvature) {
            const auto n = int64_t(z.size());
            checked(e, n, "e"), checked(y, n, "y"), checked(C, n, "C");
            nb::gil_scoped_release release;
            return hinge_line_search(n, z.data(), e.data(), y.data(), C.data(), slope, curvature);
        },
        arg("z"), arg("e"), arg("y"), arg("C"), arg("slope"), arg("curvature"),
        "The step along a line that minimises the hinge objective exactly.");
}

}  // namespace widemargin
