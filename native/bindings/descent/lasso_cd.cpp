// Coordinate descent for the squared loss with its state: weights, residual, intercept, working set and order.
#include "core/descent/lasso_cd.hpp"

#include <nanobind/stl/string.h>

#include <numeric>
#include <optional>
#include <string>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

LassoIntercept parse_intercept(const std::string& name) {
    if (name == "none") return LassoIntercept::none;
    if (name == "regularized") return LassoIntercept::regularized;
    if (name == "free") return LassoIntercept::free;
    throw std::invalid_argument("unknown intercept: use none, regularized or free");
}

class LassoSolverState {
  public:
    LassoSolverState(const RowStore& columns, Array<In> y, Array<In> C, double rho, const std::string& intercept,
                     double intercept_scaling, const std::string& order, uint64_t seed)
        : X_(columns), kind_(Order::parse(order)), seed_(seed) {
        const int64_t n = X_.n_cols(), p = X_.n_rows();
        checked(y, n, "y"), checked(C, n, "C");
        if (!(rho >= 0 && rho <= 1)) throw std::invalid_argument("rho must lie in [0, 1]");
        checked_count(p, "columns");
        state_.rho = rho;
        state_.intercept = parse_intercept(intercept);
        state_.scale = intercept_scaling;
        if (state_.intercept == LassoIntercept::regularized && !(intercept_scaling > 0))
            throw std::invalid_argument("intercept_scaling must be greater than 0");
        y_.assign(y.data(), y.data() + n);
        twice_C_.resize(size_t(n));
        bool uniform = true;
        for (size_t i = 0; i < twice_C_.size(); ++i) {
            twice_C_[i] = 2 * C.data()[i];
            uniform &= twice_C_[i] == twice_C_[0];
        }
        state_.uniform = uniform ? twice_C_[0] : 0.0;
        state_.total = std::accumulate(twice_C_.begin(), twice_C_.end(), 0.0);
        if (!(state_.total > 0)) throw std::invalid_argument("C must be positive in at least one row");
        columns_.resize(size_t(p));
        q_.resize(size_t(n));
        nb::gil_scoped_release release;
        with_passes([](auto& passes) { passes.prepare(); });
        reset_residual();
    }

    // Starts anew at (w, b); the residual is made from scratch, free of rounding.
    void set_weights(Array<In> w, double b) {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < columns_.size(); ++j) columns_[j].w = w.data()[j];
        state_.b = state_.intercept == LassoIntercept::none ? 0.0 : b;
        nb::gil_scoped_release release;
        reset_residual();
    }

    void weights(Array<Out> w) const {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < columns_.size(); ++j) w.data()[j] = columns_[j].w;
    }

    // The dual point v_i = 2 C_i (y_i - x_i . w - b).
    void dual(Array<Out> v) const {
        checked(v, X_.n_cols(), "v");
        for (size_t i = 0; i < q_.size(); ++i) v.data()[i] = q_[i] - twice_C_[i] * state_.b;
    }

    // Moves (w on the working set, b, residual) to a point whose residual the caller knows.
    void move_to(Array<In> w, double b, Array<In> v) {
        checked(w, int64_t(working_.size()), "w"), checked(v, X_.n_cols(), "v");
        for (size_t k = 0; k < working_.size(); ++k) columns_[working_[k]].w = w.data()[k];
        state_.b = state_.intercept == LassoIntercept::none ? 0.0 : b;
        state_.sum_q = 0;
        for (size_t i = 0; i < q_.size(); ++i) {
            q_[i] = v.data()[i] + twice_C_[i] * state_.b;
            state_.sum_q += q_[i];
        }
        with_passes([](auto& passes) { passes.move_intercept(); });
    }

    void curvatures(Array<Out> out) const {
        checked(out, X_.n_rows(), "out");
        for (size_t j = 0; j < columns_.size(); ++j) out.data()[j] = columns_[j].curvature;
    }

    // The columns that later passes visit.
    void set_working(Array<const uint32_t> working) {
        check_list(working);
        working_.assign(working.data(), working.data() + working.size());
        order_.emplace(kind_, uint32_t(working_.size()), seed_++);
    }

    // The weights of the working set.
    void working_weights(Array<Out> w) const {
        checked(w, int64_t(working_.size()), "w");
        for (size_t k = 0; k < working_.size(); ++k) w.data()[k] = columns_[working_[k]].w;
    }

    // x_j . v for the columns listed.
    void correlations(Array<const uint32_t> list, Array<Out> out) {
        check_list(list);
        checked(out, int64_t(list.size()), "out");
        nb::gil_scoped_release release;
        with_passes([&](auto& passes) { passes.correlations(list.data(), int64_t(list.size()), out.data()); });
    }

    // The Hessian of the loss in the columns listed, row by row.
    void hessian(Array<const uint32_t> list, Array<Out> out) {
        check_list(list);
        const auto n = int64_t(list.size());
        checked(out, n * n, "out");
        nb::gil_scoped_release release;
        with_passes([&](auto& passes) { passes.hessian(list.data(), n, out.data()); });
    }

    // Moves the weights of the columns listed by d.
    void shift(Array<const uint32_t> list, Array<In> d) {
        check_list(list);
        checked(d, int64_t(list.size()), "d");
        nb::gil_scoped_release release;
        with_passes([&](auto& passes) { passes.shift(list.data(), int64_t(list.size()), d.data()); });
    }

    LassoReport run(int64_t max_passes, double max_seconds) {
        if (!order_) throw std::invalid_argument("set_working comes before run");
        nb::gil_scoped_release release;
        LassoReport report;
        with_passes([&](auto& passes) { report = passes.run(*order_, working_, max_passes, max_seconds); });
        return report;
    }

    double intercept() const { return state_.b; }

  private:
    void check_list(const Array<const uint32_t>& list) const {
        for (size_t k = 0; k < list.size(); ++k)
            if (int64_t(list.data()[k]) >= X_.n_rows())
                throw std::invalid_argument("column " + std::to_string(list.data()[k]) + " of " +
                                            std::to_string(X_.n_rows()));
    }

    template <class F>
    void with_passes(F&& f) {
        X_.visit([&]<class Columns>(const Columns& X) {
            LassoCD<Columns> passes(X, state_, columns_, q_, twice_C_);
            f(passes);
        });
    }

    void reset_residual() {
        std::vector<double> z(q_.size(), 0.0);
        X_.visit([&](const auto& X) {
            for (size_t j = 0; j < columns_.size(); ++j)
                if (columns_[j].w != 0) X[int64_t(j)].axpy(columns_[j].w, z.data());
        });
        state_.sum_q = 0;
        for (size_t i = 0; i < q_.size(); ++i) {
            q_[i] = twice_C_[i] * (y_[i] - z[i]);
            state_.sum_q += q_[i];
        }
        with_passes([](auto& passes) { passes.move_intercept(); });
    }

    RowStore X_;
    Order::Kind kind_;
    uint64_t seed_;
    LassoState state_;
    std::vector<LassoColumn> columns_;
    std::vector<double> y_, twice_C_, q_;
    std::vector<uint32_t> working_;
    std::optional<Order> order_;
};

}  // namespace

void bind_lasso_cd(nb::module_& m) {
    using nb::arg;
    nb::class_<LassoReport>(m, "LassoReport")
        .def_ro("passes", &LassoReport::passes)
        .def_ro("steps", &LassoReport::steps)
        .def_ro("entries", &LassoReport::entries)
        .def_ro("gained", &LassoReport::gained)
        .def_ro("last_gain", &LassoReport::last_gain);
    nb::class_<LassoSolverState>(m, "LassoCD", "Coordinate descent for the squared loss: its state and its passes.")
        .def(nb::init<const RowStore&, Array<In>, Array<In>, double, const std::string&, double, const std::string&,
                      uint64_t>(),
             arg("columns"), arg("y"), arg("C"), arg("rho"), arg("intercept"), arg("intercept_scaling"), arg("order"),
             arg("seed"))
        .def("set_weights", &LassoSolverState::set_weights, arg("w"), arg("b"))
        .def("weights", &LassoSolverState::weights, arg("w").noconvert())
        .def("dual", &LassoSolverState::dual, arg("v").noconvert())
        .def("move_to", &LassoSolverState::move_to, arg("w"), arg("b"), arg("v"))
        .def("curvatures", &LassoSolverState::curvatures, arg("out").noconvert())
        .def("set_working", &LassoSolverState::set_working, arg("working"))
        .def("working_weights", &LassoSolverState::working_weights, arg("w").noconvert())
        .def("correlations", &LassoSolverState::correlations, arg("list"), arg("out").noconvert())
        .def("hessian", &LassoSolverState::hessian, arg("list"), arg("out").noconvert())
        .def("shift", &LassoSolverState::shift, arg("list"), arg("d"))
        .def("run", &LassoSolverState::run, arg("max_passes"), arg("max_seconds"))
        .def_prop_ro("intercept", &LassoSolverState::intercept);
}

}  // namespace widemargin
