// Dual coordinate descent with its state: the dual variables, w = X^T v, the intercept and the coordinate order.
#include "core/descent/dual_cd.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/passes/passes.hpp"

namespace widemargin {
namespace {

// Only float rows, and rows without values, are worth a float w.
template <class Rows>
constexpr bool single_allowed = std::is_same_v<typename Rows::Value, float> || std::is_same_v<Rows, UniformRows>;

class DualState {
  public:
    DualState(const RowStore& X, const LossSpec& loss, Array<In> y, Array<In> C, Array<In> private_part,
              double intercept_scaling, const std::string& order, uint32_t block, bool shrinking, uint64_t seed,
              bool single)
        : X_(X),
          loss_(loss),
          scale_squared_(intercept_scaling * intercept_scaling),
          order_(Order::parse(order), checked_count(X.n_rows(), "rows"), seed, block),
          shrinking_{shrinking},
          single_(single && X.visit([]<class R>(const R&) { return single_allowed<R>; })) {
        const int64_t m = X.n_rows();
        checked(y, m, "y"), checked(C, m, "C"), checked(private_part, m, "private_part");
        std::vector<double> sqnorms(static_cast<size_t>(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, sqnorms.data()); });
        rows_.resize(size_t(m));
        with_dual_step(loss_, [&](const auto& step) {
            for (size_t i = 0; i < rows_.size(); ++i) {
                const double c = C.data()[i], p = private_part.data()[i];
                if (!(c > 0)) order_.exclude(uint32_t(i));
                const double q = sqnorms[i] + p + scale_squared_ + (c > 0 ? step.delta(c) : 0.0);
                rows_[i] = {0.0, std::max(q, 1e-300), y.data()[i], c, p};
            }
        });
        if (single_)
            w32_.assign(size_t(X.n_cols()), 0.0f);
        else
            w64_.assign(size_t(X.n_cols()), 0.0);
    }

    void set_dual(Array<In> v) {
        checked(v, X_.n_rows(), "v");
        for (size_t i = 0; i < rows_.size(); ++i) rows_[i].v = v.data()[i];
    }
    void dual(Array<Out> v) const {
        checked(v, X_.n_rows(), "v");
        for (size_t i = 0; i < rows_.size(); ++i) v.data()[i] = rows_[i].v;
    }
    void set_weights(Array<In> w) {
        checked(w, X_.n_cols(), "w");
        if (single_)
            std::copy_n(w.data(), w32_.size(), w32_.begin());
        else
            std::copy_n(w.data(), w64_.size(), w64_.begin());
    }
    void weights(Array<Out> w) const {
        checked(w, X_.n_cols(), "w");
        if (single_)
            std::copy(w32_.begin(), w32_.end(), w.data());
        else
            std::copy(w64_.begin(), w64_.end(), w.data());
    }
    void restore() {
        order_.restore();
        shrinking_.let_all_in();
    }
    void become_adaptive() { order_.become_adaptive(); }

    // Goes on where another descent over the same rows stood, but for the weights, whose columns may be others, and the
    // size of blocks.
    void go_on_from(const DualState& before) {
        if (before.rows_.size() != rows_.size()) throw std::invalid_argument("the other descent has other rows");
        for (size_t i = 0; i < rows_.size(); ++i) rows_[i].v = before.rows_[i].v;
        const uint32_t block = order_.block();
        order_ = before.order_, shrinking_ = before.shrinking_;
        order_.set_block(block);
        intercept_ = before.intercept_, dual_value_ = before.dual_value_;
    }

    DualReport run(double relative_gap, double at_zero, double trust, int64_t max_passes, double max_seconds) {
        const Budget target{relative_gap, at_zero, trust, max_passes, max_seconds};
        nb::gil_scoped_release release;
        const DualReport report = with_dual_step(loss_, [&](const auto& step) {
            return X_.visit([&]<class Rows>(const Rows& rows) {
                if constexpr (single_allowed<Rows>)
                    if (single_) return run_with(rows, step, w32_, target);
                return run_with(rows, step, w64_, target);
            });
        });
        dual_value_ = report.dual;
        return report;
    }

    double intercept_ = 0;
    double dual_value_ = 0;

  private:
    template <class Rows, class Step, class Weight>
    DualReport run_with(const Rows& X, const Step& step, HugeVector<Weight>& w, const Budget& target) {
        DualCD<Rows, Step, Weight> epochs(X, step, rows_, w, intercept_, scale_squared_, shrinking_);
        return epochs.run(order_, dual_value_, target);
    }

    RowStore X_;
    LossSpec loss_;
    double scale_squared_;
    HugeVector<DualRow> rows_;
    HugeVector<double> w64_;
    HugeVector<float> w32_;
    Order order_;
    Shrinking shrinking_;
    bool single_;
};

}  // namespace

void bind_dual_cd(nb::module_& m) {
    using nb::arg;
    nb::class_<DualReport>(m, "DualReport")
        .def_ro("passes", &DualReport::passes)
        .def_ro("steps", &DualReport::steps)
        .def_ro("n_active", &DualReport::n_active)
        .def_ro("dual", &DualReport::dual)
        .def_ro("gap", &DualReport::gap)
        .def_ro("violation", &DualReport::violation)
        .def_ro("looks_done", &DualReport::looks_done);
    nb::class_<DualState>(m, "DualCD", "Dual coordinate descent: its state and its passes.")
        .def(nb::init<const RowStore&, const LossSpec&, Array<In>, Array<In>, Array<In>, double, const std::string&,
                      uint32_t, bool, uint64_t, bool>(),
             arg("X"), arg("loss"), arg("y"), arg("C"), arg("private_part"), arg("intercept_scaling"), arg("order"),
             arg("block"), arg("shrinking"), arg("seed"), arg("single"))
        .def("set_dual", &DualState::set_dual, arg("v"))
        .def("dual", &DualState::dual, arg("v").noconvert())
        .def("set_weights", &DualState::set_weights, arg("w"))
        .def("weights", &DualState::weights, arg("w").noconvert())
        .def("restore", &DualState::restore)
        .def("become_adaptive", &DualState::become_adaptive)
        .def("go_on_from", &DualState::go_on_from, arg("before"))
        .def("run", &DualState::run, arg("relative_gap"), arg("at_zero"), arg("trust"), arg("max_passes"),
             arg("max_seconds"))
        .def_rw("intercept", &DualState::intercept_)
        .def_rw("dual_value", &DualState::dual_value_);
}

}  // namespace widemargin
