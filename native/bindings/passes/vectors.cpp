// Inner products of vectors.
#include "core/passes/vectors.hpp"

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

double dot_(Array<In> a, Array<In> b) {
    const auto n = int64_t(a.size());
    checked(b, n, "b");
    nb::gil_scoped_release release;
    return dot(a.data(), b.data(), n);
}

}  // namespace

void bind_vectors(nb::module_& m) {
    m.def("dot", &dot_, nb::arg("a"), nb::arg("b"));
}

}  // namespace widemargin
