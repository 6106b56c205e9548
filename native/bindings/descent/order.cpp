// The coordinate order by itself, for the tests that run it on model problems.
#include "core/descent/order.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/bind.hpp"

namespace widemargin {
namespace {

uint32_t checked_coordinate(const Order& order, uint32_t i) {
    if (i >= order.size())
        throw std::invalid_argument("coordinate " + std::to_string(i) + " of " + std::to_string(order.size()));
    return i;
}

}  // namespace

void bind_order(nb::module_& m) {
    using nb::arg;
    nb::class_<Order>(m, "Order", "Which coordinate next.")
        .def(
            "__init__",
            [](Order* self, const std::string& kind, uint32_t n, uint64_t seed) {
                new (self) Order(Order::parse(kind), n, seed);
            },
            arg("kind"), arg("n"), arg("seed"))
        .def("next_pass", [](Order& order) { return to_numpy(std::vector<uint32_t>(order.next_pass())); })
        .def(
            "report",
            [](Order& order, uint32_t i, double gain) {
                if (order.adaptive()) order.report(checked_coordinate(order, i), gain);
            },
            arg("i"), arg("gain"))
        .def(
            "drop", [](Order& order, uint32_t i) { order.drop(checked_coordinate(order, i)); }, arg("i"))
        .def(
            "exclude", [](Order& order, uint32_t i) { order.exclude(checked_coordinate(order, i)); }, arg("i"))
        .def("restore", &Order::restore)
        .def("preferences", [](const Order& order) { return to_numpy(std::vector<double>(order.preferences())); })
        .def_prop_ro("n_active", &Order::n_active)
        .def_prop_ro("n_eligible", &Order::n_eligible);
}

}  // namespace widemargin
