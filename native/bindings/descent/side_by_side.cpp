// Dual coordinate descent in several lanes over the same rows, with its state.
#include "core/descent/side_by_side.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/passes/passes.hpp"

namespace widemargin {
namespace {

class SideBySideState {
  public:
    SideBySideState(const RowStore& X, const LossSpec& loss, Array<const int8_t> sides, Array<In> C,
                    double intercept_scaling, bool free_intercept, uint32_t block, uint64_t seed, bool single)
        : X_(X),
          loss_(loss),
          order_(Order::Kind::permuted, checked_count(X.n_rows(), "rows"), seed, block),
          single_(single) {
        const int64_t m = X.n_rows(), k = m > 0 ? int64_t(sides.size()) / m : 0;
        if (k < 1) throw std::invalid_argument("sides must hold at least one lane of rows");
        if (k > LaneState::most_lanes) throw std::invalid_argument("more than 255 lanes");
        checked(sides, m * k, "sides"), checked(C, m, "C");
        for (int64_t at = 0; at < m * k; ++at)
            if (sides.data()[at] != 1 && sides.data()[at] != -1)
                throw std::invalid_argument("sides must be +1 or -1, found " + std::to_string(sides.data()[at]));
        s_.lanes.resize(size_t(k));
        s_.sides.assign(sides.data(), sides.data() + m * k);
        s_.C.assign(C.data(), C.data() + m);
        s_.v.assign(size_t(m * k), 0.0);
        s_.in_play.assign(size_t(m), uint8_t(k));
        s_.order.resize(size_t(m * k));
        for (int64_t at = 0; at < m * k; ++at) s_.order[size_t(at)] = uint8_t(at % k);
        s_.scale_squared = intercept_scaling * intercept_scaling;
        s_.free_intercept = free_intercept;
        s_.q.resize(size_t(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, s_.q.data()); });
        with_margin_step(loss_, [&](const auto& step) {
            for (size_t i = 0; i < s_.q.size(); ++i) {
                const double c = s_.C[i];
                if (!(c > 0)) order_.exclude(uint32_t(i));
                s_.q[i] = std::max(s_.q[i] + s_.scale_squared + (c > 0 ? step.delta(c) : 0.0), 1e-300);
            }
        });
        if (single_)
            w32_.resize(X.n_cols(), k);
        else
            w64_.resize(X.n_cols(), k);
    }

    void one_pass() {
        nb::gil_scoped_release release;
        with_margin_step(loss_, [&](const auto& step) {
            X_.visit([&](const auto& rows) {
                if (single_)
                    pass_with(rows, step, w32_);
                else
                    pass_with(rows, step, w64_);
            });
        });
    }

    int64_t n_lanes() const { return int64_t(s_.count()); }
    double gap(int64_t lane) const { return at(lane).gap; }
    double dual_value(int64_t lane) const { return at(lane).dual; }
    double intercept(int64_t lane) const { return at(lane).b; }
    int64_t n_active(int64_t lane) const { return int64_t(order_.n_eligible()) - at(lane).n_dropped; }
    void rest(int64_t lane) { s_.lanes[size_t(&at(lane) - s_.lanes.data())].resting = true; }

    void dual(int64_t lane, Array<Out> v) const {
        at(lane);
        checked(v, X_.n_rows(), "v");
        for (int64_t i = 0; i < X_.n_rows(); ++i) v.data()[i] = s_.v[size_t(i) * s_.count() + size_t(lane)];
    }

    // The lanes `chosen` alone go on, in that order, which must be ascending.
    void keep(const std::vector<int64_t>& chosen) {
        std::vector<uint32_t> kept;
        for (const int64_t lane : chosen) {
            at(lane);
            if (!kept.empty() && lane <= int64_t(kept.back())) throw std::invalid_argument("lanes must be ascending");
            kept.push_back(uint32_t(lane));
        }
        if (kept.empty()) throw std::invalid_argument("at least one lane must be kept");
        s_.keep(kept);
        if (single_)
            w32_.keep(kept);
        else
            w64_.keep(kept);
    }

  private:
    const Lane& at(int64_t lane) const {
        if (lane < 0 || lane >= n_lanes())
            throw std::invalid_argument("there is no lane " + std::to_string(lane) + ", there are " +
                                        std::to_string(n_lanes()));
        return s_.lanes[size_t(lane)];
    }

    template <class Rows, class Step, class T>
    void pass_with(const Rows& X, const Step& step, ClassTable<T>& W) {
        SideBySide<Rows, Step, T>(X, step, s_, W).one_pass(order_);
    }

    RowStore X_;
    LossSpec loss_;
    LaneState s_;
    Order order_;
    bool single_;
    ClassTable<float> w32_;
    ClassTable<double> w64_;
};

}  // namespace

void bind_side_by_side(nb::module_& m) {
    using nb::arg;
    nb::class_<SideBySideState>(m, "SideBySide", "The state of dual coordinate descent in several lanes.")
        .def(nb::init<const RowStore&, const LossSpec&, Array<const int8_t>, Array<In>, double, bool, uint32_t,
                      uint64_t, bool>(),
             arg("X"), arg("loss"), arg("sides"), arg("C"), arg("intercept_scaling"), arg("free_intercept"),
             arg("block"), arg("seed"), arg("single"))
        .def("one_pass", &SideBySideState::one_pass)
        .def_prop_ro("n_lanes", &SideBySideState::n_lanes)
        .def("gap", &SideBySideState::gap, arg("lane"))
        .def("dual_value", &SideBySideState::dual_value, arg("lane"))
        .def("intercept", &SideBySideState::intercept, arg("lane"))
        .def("n_active", &SideBySideState::n_active, arg("lane"))
        .def("rest", &SideBySideState::rest, arg("lane"))
        .def("dual", &SideBySideState::dual, arg("lane"), arg("v").noconvert())
        .def("keep", &SideBySideState::keep, arg("chosen"));
}

}  // namespace widemargin
