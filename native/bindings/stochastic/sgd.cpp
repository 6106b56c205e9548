// Stochastic gradient descent with its state: the vector a, the rows' pulls and the order of presentation.
#include "core/stochastic/sgd.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/passes/passes.hpp"
#include "core/stochastic/trial_rows.hpp"
#include "core/stochastic/weight_scale.hpp"

namespace widemargin {
namespace {

class SgdSolver {
    template <class F>
    auto with_epochs(SgdState& state, F&& f) const {
        return with_margin_loss(loss_, [&]<class Loss>(const Loss& loss) {
            return X_.visit([&]<class Rows>(const Rows& rows) { return f(Sgd<Rows, Loss>(rows, loss, state)); });
        });
    }

  public:
    SgdSolver(const RowStore& X, const LossSpec& loss, Array<In> y, Array<In> C, double intercept_scaling,
              const std::string& order, uint64_t seed)
        : X_(X), loss_(loss), order_(Order::parse(order), checked_count(X.n_rows(), "rows"), seed) {
        const int64_t m = X.n_rows();
        checked(y, m, "y"), checked(C, m, "C");
        with_margin_loss(loss_, [](const auto&) {});
        std::vector<double> sqnorms(static_cast<size_t>(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, sqnorms.data()); });
        const auto [lambda, mean_C] = weight_scale(C.data(), m);
        s_.lambda = lambda, s_.mean_C = mean_C;
        for (int64_t i = 0; i < m; ++i)
            if (!(C.data()[i] > 0)) order_.exclude(uint32_t(i));
        s_.rho_squared = intercept_scaling * intercept_scaling;
        s_.a.assign(size_t(X.n_cols()), 0.0);
        s_.rows.resize(size_t(m));
        for (size_t i = 0; i < s_.rows.size(); ++i)
            s_.rows[i] = {y.data()[i], std::max(0.0, C.data()[i]) / s_.mean_C, sqnorms[i] + s_.rho_squared, 0.0};
        if (Order::parse(order) == Order::Kind::random) s_.shown.assign(size_t(m), 0);
    }

    // Begins as after `epochs` epochs in which row i pulled p_i.
    void begin(Array<In> pulls, double epochs) {
        checked(pulls, X_.n_rows(), "pulls");
        nb::gil_scoped_release release;
        std::fill(s_.a.begin(), s_.a.end(), 0.0);
        s_.a_bias = s_.pulled = 0;
        std::vector<double> u(s_.rows.size());
        for (size_t i = 0; i < u.size(); ++i) {
            SgdRow& row = s_.rows[i];
            row.pull = row.step > 0 ? pulls.data()[i] : 0.0;
            u[i] = row.y * row.step * row.pull;
            s_.a_bias += s_.rho_squared * u[i];
            s_.pulled += row.step * row.pull;
        }
        X_.visit([&](const auto& rows) { rmatvec(rows, u.data(), s_.a.data(), 1); });
        s_.sqnorm = s_.rho_squared > 0 ? s_.a_bias * s_.a_bias / s_.rho_squared : 0.0;
        for (const double a : s_.a) s_.sqnorm += a * a;
        s_.t = epochs / (s_.lambda * s_.mean_C);
        if (!s_.shown.empty()) std::fill(s_.shown.begin(), s_.shown.end(), uint32_t(epochs));
    }

    SgdReport epoch(int64_t multiplicity) {
        if (multiplicity < 1) throw std::invalid_argument("multiplicity must be at least 1");
        if (multiplicity > 1 && !loss_.is_hinge())
            throw std::invalid_argument("multiple presentations are known for the hinge loss alone");
        nb::gil_scoped_release release;
        return with_epochs(s_, [&](auto epochs) { return epochs.epoch(order_, multiplicity); });
    }

    // One pass over n rows, the same ones every time, from w = 0 with another t0; the objective (per unit of weight)
    // that it reaches on them.
    double trial(int64_t n, double offset) {
        nb::gil_scoped_release release;
        const std::vector<uint32_t>& sample = trial_rows(trial_, order_, n);
        SgdState s = s_;
        s.a.assign(s.a.size(), 0.0);
        s.a_bias = s.t = s.sqnorm = s.pulled = 0;
        s.offset = offset;
        with_epochs(s, [&](auto epochs) { return epochs.one_pass(sample, 1); });
        const double theta = s.theta();
        const double loss = with_margin_loss(loss_, [&](const auto& l) {
            return X_.visit([&](const auto& rows) {
                double sum = 0;
                for (const uint32_t i : sample) {
                    const double z = (rows[i].dot(s.a.data()) + s.a_bias) / theta;
                    sum += s.rows[i].step * l.value(z, s.rows[i].y);
                }
                return sum;
            });
        });
        return 0.5 * s.lambda * s.sqnorm / (theta * theta) + loss / double(sample.size());
    }

    void weights(Array<Out> w) const {
        checked(w, X_.n_cols(), "w");
        const double theta = s_.theta();
        for (size_t j = 0; j < s_.a.size(); ++j) w.data()[j] = theta > 0 ? s_.a[j] / theta : 0.0;
    }
    double intercept() const { return s_.theta() > 0 ? s_.a_bias / s_.theta() : 0.0; }

    // Complete epochs: v_i = y_i C_i p_i / (T + t0/m). Random rows: the share of row i's own presentations.
    void dual(Array<Out> v) const {
        checked(v, X_.n_rows(), "v");
        const double presented = s_.theta() * s_.mean_C;
        for (size_t i = 0; i < s_.rows.size(); ++i) {
            const SgdRow& row = s_.rows[i];
            const double times = s_.shown.empty() ? presented : std::max<double>(s_.shown[i], 1.0);
            v.data()[i] = times > 0 ? row.y * row.step * s_.mean_C * row.pull / times : 0.0;
        }
    }
    void pulls(Array<Out> p) const {
        checked(p, X_.n_rows(), "p");
        for (size_t i = 0; i < s_.rows.size(); ++i) p.data()[i] = s_.rows[i].pull;
    }

    double lambda() const { return s_.lambda; }
    double offset() const { return s_.offset; }
    void set_offset(double offset) {
        if (!(offset >= 0)) throw std::invalid_argument("offset must not be negative");
        s_.offset = offset;
    }

  private:
    RowStore X_;
    LossSpec loss_;
    SgdState s_;
    Order order_;
    std::vector<uint32_t> trial_;  // the rows that judge a first rate
};

}  // namespace

void bind_sgd(nb::module_& m) {
    using nb::arg;
    m.def("count_margin_errors", &count_margin_errors, arg("P"), arg("q"), arg("lambda_"), arg("times"),
          "Proposition 3 of the SGD paper.");
    nb::class_<SgdReport>(m, "SgdReport")
        .def_ro("epochs", &SgdReport::epochs)
        .def_ro("primal", &SgdReport::primal)
        .def_ro("dual", &SgdReport::dual)
        .def_ro("sqnorm", &SgdReport::sqnorm);
    nb::class_<SgdSolver>(m, "Sgd", "Stochastic gradient descent: its state and its passes.")
        .def(nb::init<const RowStore&, const LossSpec&, Array<In>, Array<In>, double, const std::string&, uint64_t>(),
             arg("X"), arg("loss"), arg("y"), arg("C"), arg("intercept_scaling"), arg("order"), arg("seed"))
        .def("begin", &SgdSolver::begin, arg("pulls"), arg("epochs"))
        .def("epoch", &SgdSolver::epoch, arg("multiplicity"))
        .def("trial", &SgdSolver::trial, arg("n"), arg("offset"))
        .def("weights", &SgdSolver::weights, arg("w").noconvert())
        .def("dual", &SgdSolver::dual, arg("v").noconvert())
        .def("pulls", &SgdSolver::pulls, arg("p").noconvert())
        .def_prop_ro("intercept", &SgdSolver::intercept)
        .def_prop_ro("lam", &SgdSolver::lambda)
        .def_prop_rw("offset", &SgdSolver::offset, &SgdSolver::set_offset);
}

}  // namespace widemargin
