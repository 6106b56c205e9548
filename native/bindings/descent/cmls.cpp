// CMLS with its state: weights, trust regions and predictions.
#include "core/descent/cmls.hpp"

#include <nanobind/stl/string.h>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

class CmlsState {
  public:
    CmlsState(const RowStore& columns, Array<In> y, Array<In> C, double intercept_scale, double intercept_ridge,
              const std::string& order, uint64_t seed)
        : X_(columns),
          coordinates_(size_t(columns.n_rows())),
          places_(size_t(columns.n_cols())),
          intercept_scale_(intercept_scale),
          intercept_ridge_(intercept_ridge),
          order_(Order::parse(order), uint32_t(columns.n_rows()), seed) {
        checked(y, X_.n_cols(), "y"), checked(C, X_.n_cols(), "C");
        for (size_t i = 0; i < places_.size(); ++i) places_[i] = {0.0, 1.0, y.data()[i], C.data()[i]};
    }

    void set_weights(Array<In> w, double intercept) {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < coordinates_.size(); ++j) coordinates_[j].w = w.data()[j];
        if (intercept_scale_ != 0) intercept_.w = intercept / intercept_scale_;
    }
    void weights(Array<Out> w) const {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < coordinates_.size(); ++j) w.data()[j] = coordinates_[j].w;
    }
    void set_predictions(Array<In> z) {
        checked(z, X_.n_cols(), "z");
        for (size_t i = 0; i < places_.size(); ++i) places_[i].z = z.data()[i];
    }
    void predictions(Array<Out> z) const {
        checked(z, X_.n_cols(), "z");
        for (size_t i = 0; i < places_.size(); ++i) z.data()[i] = places_[i].z;
    }
    double intercept() const { return intercept_.w * intercept_scale_; }

    CmlsReport run(double c, double epsilon) {
        nb::gil_scoped_release release;
        return X_.visit([&](const auto& columns) {
            CmlsPass pass(columns, coordinates_, intercept_, intercept_scale_, intercept_ridge_, places_);
            return pass.run(order_, c, epsilon);
        });
    }

  private:
    RowStore X_;
    std::vector<CmlsCoordinate> coordinates_;
    CmlsCoordinate intercept_;
    std::vector<Place> places_;
    double intercept_scale_, intercept_ridge_;
    Order order_;
};

}  // namespace

void bind_cmls(nb::module_& m) {
    using nb::arg;
    nb::class_<CmlsReport>(m, "CmlsReport")
        .def_ro("steps", &CmlsReport::steps)
        .def_ro("slope_squares", &CmlsReport::slope_squares);
    nb::class_<CmlsState>(m, "CMLS", "CMLS: its state and its passes over columns.")
        .def(nb::init<const RowStore&, Array<In>, Array<In>, double, double, const std::string&, uint64_t>(),
             arg("columns"), arg("y"), arg("C"), arg("intercept_scale"), arg("intercept_ridge"), arg("order"),
             arg("seed"))
        .def("set_weights", &CmlsState::set_weights, arg("w"), arg("intercept"))
        .def("weights", &CmlsState::weights, arg("w").noconvert())
        .def("set_predictions", &CmlsState::set_predictions, arg("z"))
        .def("predictions", &CmlsState::predictions, arg("z").noconvert())
        .def("run", &CmlsState::run, arg("c"), arg("epsilon"))
        .def_prop_ro("intercept", &CmlsState::intercept);
}

}  // namespace widemargin
