// Pegasos with its state: the last iterate, the mean of the iterates and how often each row was drawn.
#include "core/stochastic/pegasos.hpp"

#include "bindings/rows/row_store.hpp"
#include "core/passes/passes.hpp"
#include "core/stochastic/weight_scale.hpp"

namespace widemargin {
namespace {

class PegasosSolver {
  public:
    PegasosSolver(const RowStore& X, Array<In> y, Array<In> C, double intercept_scaling, uint64_t seed)
        : X_(X), rng_(seed) {
        const int64_t m = X.n_rows();
        checked(y, m, "y"), checked(C, m, "C");
        checked_count(m, "rows");
        std::vector<double> sqnorms(static_cast<size_t>(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, sqnorms.data()); });
        const auto [lambda, mean_C] = weight_scale(C.data(), m);
        s_.lambda = lambda, s_.mean_C = mean_C;
        for (int64_t i = 0; i < m; ++i)
            if (C.data()[i] > 0) s_.counted.push_back(uint32_t(i));
        s_.rho_squared = intercept_scaling * intercept_scaling;
        s_.a.assign(size_t(X.n_cols()), 0.0);
        s_.h = s_.a;
        for (int64_t i = 0; i < m; ++i)
            s_.rows.push_back(
                {y.data()[i], std::max(0.0, C.data()[i]) / s_.mean_C, sqnorms[size_t(i)] + s_.rho_squared, 0, 0});
    }

    PegasosReport one_pass(int64_t batch) {
        if (batch < 1) throw std::invalid_argument("the subsample must hold at least one row");
        nb::gil_scoped_release release;
        return X_.visit([&]<class Rows>(const Rows& rows) { return Pegasos<Rows>(rows, s_, rng_).one_pass(batch); });
    }

    void restart_mean() {
        std::fill(s_.h.begin(), s_.h.end(), 0.0);
        s_.h_bias = s_.averaged = 0;
        s_.averaged_since = s_.step;
    }

    // The last iterate or the mean of the iterates; returns the intercept.
    double weights(Array<Out> w, bool mean) const {
        checked(w, X_.n_cols(), "w");
        const double n = double(s_.step - s_.averaged_since);
        const double of_a = mean ? s_.averaged / n : s_.scale, of_h = mean ? 1 / n : 0.0;
        for (size_t j = 0; j < s_.a.size(); ++j) w.data()[j] = of_a * s_.a[j] - of_h * s_.h[j];
        return of_a * s_.a_bias - of_h * s_.h_bias;
    }

    // v_i = y_i C_i times the share of row i's draws that were margin errors
    void dual(Array<Out> v) const {
        checked(v, X_.n_rows(), "v");
        for (size_t i = 0; i < s_.rows.size(); ++i) {
            const PegasosRow& row = s_.rows[i];
            const double share = row.drawn > 0 ? double(row.errors) / double(row.drawn) : 0.0;
            v.data()[i] = row.y * row.step * s_.mean_C * share;
        }
    }

  private:
    RowStore X_;
    Rng rng_;
    PegasosState s_;
};

}  // namespace

void bind_pegasos(nb::module_& m) {
    using nb::arg;
    nb::class_<PegasosReport>(m, "PegasosReport")
        .def_ro("steps", &PegasosReport::steps)
        .def_ro("loss", &PegasosReport::loss)
        .def_ro("sqnorm", &PegasosReport::sqnorm);
    nb::class_<PegasosSolver>(m, "Pegasos", "Pegasos: its state and its passes.")
        .def(nb::init<const RowStore&, Array<In>, Array<In>, double, uint64_t>(), arg("X"), arg("y"), arg("C"),
             arg("intercept_scaling"), arg("seed"))
        .def("one_pass", &PegasosSolver::one_pass, arg("batch"))
        .def("restart_mean", &PegasosSolver::restart_mean)
        .def("weights", &PegasosSolver::weights, arg("w").noconvert(), arg("mean"))
        .def("dual", &PegasosSolver::dual, arg("v").noconvert());
}

}  // namespace widemargin
