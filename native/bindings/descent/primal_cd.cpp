// Primal coordinate descent with its state: weights, predictions with their slopes, and the coordinate order.
#include "core/descent/primal_cd.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

class PrimalState {
  public:
    PrimalState(const RowStore& columns, const LossSpec& loss, Array<In> y, Array<In> C, double rho,
                double intercept_scale, bool intercept_penalised, const std::string& order, bool shrinking,
                uint64_t seed)
        : X_(columns),
          loss_(loss),
          penalty_{rho, 1 - rho},
          intercept_penalty_{intercept_penalised ? rho : 0.0, intercept_penalised ? 1 - rho : 0.0},
          intercept_scale_(intercept_scale),
          coordinates_(size_t(columns.n_rows())),
          places_(size_t(columns.n_cols())),
          slopes_(size_t(columns.n_cols())),
          order_(Order::parse(order), checked_count(columns.n_rows(), "columns"), seed),
          shrinking_(shrinking) {
        checked(y, X_.n_cols(), "y"), checked(C, X_.n_cols(), "C");
        if (!(rho >= 0 && rho <= 1)) throw std::invalid_argument("rho must be between 0 and 1");
        for (size_t i = 0; i < places_.size(); ++i) {
            places_[i] = {0.0, 1.0, y.data()[i], C.data()[i]};
            intercept_.weighted_sqnorm += C.data()[i] * intercept_scale * intercept_scale;
        }
        intercept_.reach = std::abs(intercept_scale);
        nb::gil_scoped_release release;
        X_.visit([&](const auto& X) { measure_columns(X); });
        renew_slopes();
    }

    void set_weights(Array<In> w, double intercept) {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < coordinates_.size(); ++j)
            if (coordinates_[j].reach > 0) coordinates_[j].w = w.data()[j];  // an empty column's weight is best at 0
        if (intercept_scale_ != 0) intercept_.w = intercept / intercept_scale_;
    }
    void weights(Array<Out> w) const {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < coordinates_.size(); ++j) w.data()[j] = coordinates_[j].w;
    }
    // Starts from these predictions, whatever rounding the passes left in the kept ones.
    void set_predictions(Array<In> z) {
        checked(z, X_.n_cols(), "z");
        for (size_t i = 0; i < places_.size(); ++i) places_[i].z = z.data()[i];
        nb::gil_scoped_release release;
        renew_slopes();
        progress_.penalty = intercept_penalty_.value(intercept_.w);
        for (const auto& at : coordinates_) progress_.penalty += penalty_.value(at.w);
    }
    void predictions(Array<Out> z) const {
        checked(z, X_.n_cols(), "z");
        for (size_t i = 0; i < places_.size(); ++i) z.data()[i] = places_[i].z;
    }
    void restore() {
        order_.restore();
        progress_.drop_below = progress_.last_gap = progress_.whole_violation = infinity;
        progress_.shrunk = false;
    }
    double intercept() const { return intercept_.w * intercept_scale_; }

    PrimalReport run(double relative_gap, double at_zero, double trust, int64_t max_passes, double max_seconds) {
        const Budget target{relative_gap, at_zero, trust, max_passes, max_seconds};
        nb::gil_scoped_release release;
        return with_smooth_loss([&](const auto& loss) {
            return X_.visit([&](const auto& X) {
                PrimalCD passes(X, loss, penalty_, coordinates_, intercept_, intercept_penalty_, intercept_scale_,
                                places_, slopes_, progress_);
                return passes.run(order_, shrinking_, target);
            });
        });
    }

  private:
    template <class F>
    auto with_smooth_loss(F&& f) -> decltype(f(Logistic{})) {
        return with_loss(loss_, [&]<class Loss>(const Loss& loss) -> decltype(f(Logistic{})) {
            if constexpr (Loss::smooth) return f(loss);
            throw std::invalid_argument("primal coordinate descent needs a smooth loss");
        });
    }

    template <class Columns>
    void measure_columns(const Columns& X) {
        for (int64_t j = 0; j < X.n_rows; ++j) {
            PrimalCoordinate& at = coordinates_[size_t(j)];
            X[j].for_each([&](int32_t i, double x) {
                at.weighted_sqnorm += places_[size_t(i)].C * x * x;
                at.reach = std::max(at.reach, std::abs(x));
            });
            if (at.reach == 0) order_.exclude(uint32_t(j));
        }
    }

    void renew_slopes() {
        with_smooth_loss([&](const auto& loss) {
            for (size_t i = 0; i < places_.size(); ++i) slopes_[i] = slope_at(loss, places_[i]);
            return PrimalReport{};
        });
    }

    RowStore X_;
    LossSpec loss_;
    PrimalPenalty penalty_, intercept_penalty_;
    double intercept_scale_;
    std::vector<PrimalCoordinate> coordinates_;
    PrimalCoordinate intercept_;
    std::vector<Place> places_;
    std::vector<Slope> slopes_;
    Order order_;
    bool shrinking_;
    PrimalProgress progress_;
};

}  // namespace

void bind_primal_cd(nb::module_& m) {
    using nb::arg;
    nb::class_<PrimalReport>(m, "PrimalReport")
        .def_ro("passes", &PrimalReport::passes)
        .def_ro("steps", &PrimalReport::steps)
        .def_ro("moves", &PrimalReport::moves)
        .def_ro("evaluations", &PrimalReport::evaluations)
        .def_ro("n_active", &PrimalReport::n_active)
        .def_ro("objective", &PrimalReport::objective)
        .def_ro("gap", &PrimalReport::gap)
        .def_ro("violation", &PrimalReport::violation)
        .def_ro("looks_done", &PrimalReport::looks_done);
    nb::class_<PrimalState>(m, "PrimalCD", "Primal coordinate descent: its state and its passes over columns.")
        .def(nb::init<const RowStore&, const LossSpec&, Array<In>, Array<In>, double, double, bool, const std::string&,
                      bool, uint64_t>(),
             arg("columns"), arg("loss"), arg("y"), arg("C"), arg("rho"), arg("intercept_scale"),
             arg("intercept_penalised"), arg("order"), arg("shrinking"), arg("seed"))
        .def("set_weights", &PrimalState::set_weights, arg("w"), arg("intercept"))
        .def("weights", &PrimalState::weights, arg("w").noconvert())
        .def("set_predictions", &PrimalState::set_predictions, arg("z"))
        .def("predictions", &PrimalState::predictions, arg("z").noconvert())
        .def("restore", &PrimalState::restore)
        .def("run", &PrimalState::run, arg("relative_gap"), arg("at_zero"), arg("trust"), arg("max_passes"),
             arg("max_seconds"))
        .def_prop_ro("intercept", &PrimalState::intercept);
}

}  // namespace widemargin
