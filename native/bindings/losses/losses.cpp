// The description of a loss, which passes take as an argument.
#include "core/losses/losses.hpp"

#include "bindings/bind.hpp"

namespace widemargin {

void bind_losses(nb::module_& m) {
    using nb::arg;
    nb::class_<LossSpec>(m, "Loss", "max over a in [lower, upper] of a r - bend a^2 - zone |a|, or the logistic loss.")
        .def(
            "__init__",
            [](LossSpec* self, bool classification, double bend, double zone, double lower, double upper) {
                new (self) LossSpec(LossSpec::of_pieces(classification, bend, zone, lower, upper));
            },
            arg("classification"), arg("bend"), arg("zone"), arg("lower"), arg("upper"))
        .def_static("logistic", &LossSpec::of_logistic);
}

}  // namespace widemargin
