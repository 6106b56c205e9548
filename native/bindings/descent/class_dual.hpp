// What the two dual methods over classes show to Python in common: the rows, the order, the dual variables, the
// intercepts, and the weights in one of two precisions.
#pragma once

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/descent/class_dual.hpp"
#include "core/passes/passes.hpp"

namespace widemargin {

struct ClassDualSettings {
    int64_t n_classes;
    double intercept_scaling;
    uint32_t block;  // rows visited together
    uint64_t seed;
    bool single;
};

template <class State>
class ClassDual {
  public:
    ClassDual(const RowStore& X, Array<const int32_t> y, Array<In> C, Array<In> private_part, const std::string& order,
              const ClassDualSettings& settings)
        : X_(X),
          order_(Order::parse(order), checked_count(X.n_rows(), "rows"), settings.seed, settings.block),
          single_(settings.single) {
        const int64_t m = X.n_rows(), k = settings.n_classes;
        if (k < 2) throw std::invalid_argument("n_classes must be at least 2");
        checked(y, m, "y"), checked(C, m, "C"), checked(private_part, m, "private_part");
        for (int64_t i = 0; i < m; ++i)
            if (y.data()[i] < 0 || y.data()[i] >= k)
                throw std::invalid_argument("y[" + std::to_string(i) + "] is " + std::to_string(y.data()[i]) +
                                            ", outside 0 .. " + std::to_string(k - 1));
        s_.n_classes = k;
        s_.scale_squared = settings.intercept_scaling * settings.intercept_scaling;
        s_.y.assign(y.data(), y.data() + m);
        s_.C.assign(C.data(), C.data() + m);
        s_.private_part.assign(private_part.data(), private_part.data() + m);
        s_.sqnorms.resize(size_t(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, s_.sqnorms.data()); });
        for (size_t i = 0; i < size_t(m); ++i) s_.sqnorms[i] += s_.private_part[i];
        s_.alpha.assign(size_t(m * k), 0.0);
        s_.intercepts.assign(size_t(k), 0.0);
        if (single_)
            w32_.resize(X.n_cols(), k);
        else
            w64_.resize(X.n_cols(), k);
    }

    void set_intercepts(Array<In> b) {
        checked(b, s_.n_classes, "b");
        std::copy_n(b.data(), s_.intercepts.size(), s_.intercepts.begin());
    }
    void intercepts(Array<Out> b) const {
        checked(b, s_.n_classes, "b");
        std::copy(s_.intercepts.begin(), s_.intercepts.end(), b.data());
    }
    void become_adaptive() { order_.become_adaptive(); }
    double dual_value() const { return s_.dual; }
    void set_dual_value(double value) { s_.dual = value; }

  protected:
    // Where the row's problem has no say: without weight, or without entries and intercept.
    bool is_idle(size_t i) const { return !(s_.C[i] > 0) || is_empty(i); }
    bool is_empty(size_t i) const { return s_.sqnorms[i] + s_.scale_squared == 0; }

    // W = X^T v anew, from now on in that precision.
    template <class DualRow>
    void rebuild(bool single, DualRow&& dual_row) {
        if (single != single_) {
            single_ = single;
            w32_ = {}, w64_ = {};
            if (single)
                w32_.resize(X_.n_cols(), s_.n_classes);
            else
                w64_.resize(X_.n_cols(), s_.n_classes);
        }
        nb::gil_scoped_release release;
        X_.visit([&](const auto& rows) {
            if (single_)
                rebuild_weights(rows, w32_, s_.n_classes, dual_row);
            else
                rebuild_weights(rows, w64_, s_.n_classes, dual_row);
        });
    }

    template <template <class, class> class Method>
    SequentialReport run_method(const Budget& target) {
        nb::gil_scoped_release release;
        return X_.visit([&]<class Rows>(const Rows& rows) {
            if (single_) return Method<Rows, float>(rows, s_, w32_).run(order_, target);
            return Method<Rows, double>(rows, s_, w64_).run(order_, target);
        });
    }

    RowStore X_;
    Order order_;
    State s_;
    bool single_;
    ClassTable<float> w32_;
    ClassTable<double> w64_;
};

// The methods that both classes have.
template <class Bound>
void bind_class_dual(nb::class_<Bound>& bound) {
    using nb::arg;
    bound
        .def(nb::init<const RowStore&, Array<const int32_t>, Array<In>, Array<In>, int64_t, double, const std::string&,
                      uint32_t, bool, uint64_t, bool>(),
             arg("X"), arg("y"), arg("C"), arg("private_part"), arg("n_classes"), arg("intercept_scaling"),
             arg("order"), arg("block"), arg("shrinking"), arg("seed"), arg("single"))
        .def("set_dual", &Bound::set_dual, arg("v"))
        .def("dual", &Bound::dual, arg("v").noconvert())
        .def("set_intercepts", &Bound::set_intercepts, arg("b"))
        .def("intercepts", &Bound::intercepts, arg("b").noconvert())
        .def("restore", &Bound::restore)
        .def("rebuild_weights", &Bound::rebuild_weights, arg("single"))
        .def("become_adaptive", &Bound::become_adaptive)
        .def("run", &Bound::run, arg("relative_gap"), arg("at_zero"), arg("trust"), arg("max_passes"),
             arg("max_seconds"))
        .def_prop_rw("dual_value", &Bound::dual_value, &Bound::set_dual_value);
}

}  // namespace widemargin
