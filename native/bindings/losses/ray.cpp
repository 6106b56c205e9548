// Line searches over predictions.
#include "core/losses/ray.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/rows/row_store.hpp"
#include "core/losses/corner.hpp"

namespace widemargin {
namespace {

template <class F>
auto with_ray(const LossSpec& loss, Array<In> z, Array<In> dz, Array<In> y, Array<In> C, int n_threads, F&& f) {
    const auto n = int64_t(z.size());
    checked(dz, n, "dz"), checked(y, n, "y"), checked(C, n, "C");
    nb::gil_scoped_release release;
    return with_loss(loss, [&](const auto& l) {
        return f(Ray<std::remove_cvref_t<decltype(l)>>{l, n, z.data(), dz.data(), y.data(), C.data(), n_threads});
    });
}

double ray_value(const LossSpec& loss, Array<In> z, Array<In> dz, Array<In> y, Array<In> C, double t, int n_threads) {
    return with_ray(loss, z, dz, y, C, n_threads, [&](const auto& ray) { return ray.value(t); });
}

std::pair<double, double> ray_slope(const LossSpec& loss, Array<In> z, Array<In> dz, Array<In> y, Array<In> C, double t,
                                    int n_threads) {
    return with_ray(loss, z, dz, y, C, n_threads, [&](const auto& ray) { return ray.slope(t); });
}

double ray_go(const LossSpec& loss, Array<In> z, Array<In> dz, Array<In> y, Array<In> C, double t, Array<Out> there,
              Array<Out> u, Array<Out> h, int n_threads) {
    const auto n = int64_t(z.size());
    checked(there, n, "there"), checked(u, n, "u"), checked(h, n, "h");
    return with_ray(loss, z, dz, y, C, n_threads,
                    [&](const auto& ray) { return ray.go(t, there.data(), u.data(), h.data()); });
}

double corner(Array<In> y, Array<In> v, Array<In> lower, Array<In> upper, double width, double zone, Array<In> z,
              Array<Out> u, Array<Out> curvature) {
    const auto n = int64_t(y.size());
    checked(v, n, "v"), checked(lower, n, "lower"), checked(upper, n, "upper"), checked(z, n, "z");
    checked(u, n, "u"), checked(curvature, n, "curvature");
    nb::gil_scoped_release release;
    return Corner{n, y.data(), v.data(), lower.data(), upper.data(), width, zone}.at(z.data(), u.data(),
                                                                                     curvature.data());
}

}  // namespace

void bind_ray(nb::module_& m) {
    using nb::arg;
    m.def("ray_value", &ray_value, arg("loss"), arg("z"), arg("dz"), arg("y"), arg("C"), arg("t"),
          arg("n_threads") = 1);
    m.def("ray_slope", &ray_slope, arg("loss"), arg("z"), arg("dz"), arg("y"), arg("C"), arg("t"),
          arg("n_threads") = 1);
    m.def("ray_go", &ray_go, arg("loss"), arg("z"), arg("dz"), arg("y"), arg("C"), arg("t"), arg("there").noconvert(),
          arg("u").noconvert(), arg("h").noconvert(), arg("n_threads") = 1);
    m.def("corner", &corner, arg("y"), arg("v"), arg("lower"), arg("upper"), arg("width"), arg("zone"), arg("z"),
          arg("u").noconvert(), arg("curvature").noconvert());
}

}  // namespace widemargin
