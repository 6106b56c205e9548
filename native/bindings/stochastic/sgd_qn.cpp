// SGD-QN with its state: the weights, one learning rate per feature and the rows' pulls.
#include "core/stochastic/sgd_qn.hpp"

#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/descent/order.hpp"
#include "core/stochastic/sgd.hpp"
#include "core/stochastic/trial_rows.hpp"
#include "core/stochastic/weight_scale.hpp"

namespace widemargin {
namespace {

class QuasiNewtonSolver {
    template <class F>
    auto with_epochs(QuasiNewtonState& state, F&& f) const {
        return with_margin_loss(loss_, [&]<class Loss>(const Loss& loss) {
            return X_.visit(
                [&]<class Rows>(const Rows& rows) { return f(QuasiNewtonSgd<Rows, Loss>(rows, loss, state)); });
        });
    }

  public:
    QuasiNewtonSolver(const RowStore& X, const LossSpec& loss, Array<In> y, Array<In> C, double intercept_scaling,
                      uint64_t seed)
        : X_(X), loss_(loss), order_(Order::Kind::permuted, checked_count(X.n_rows(), "rows"), seed) {
        const int64_t m = X.n_rows();
        checked(y, m, "y"), checked(C, m, "C");
        const auto [lambda, mean_C] = weight_scale(C.data(), m);
        s_.lambda = lambda, s_.mean_C = mean_C;
        for (int64_t i = 0; i < m; ++i)
            if (!(C.data()[i] > 0)) order_.exclude(uint32_t(i));
        s_.rho = intercept_scaling;
        s_.y.assign(y.data(), y.data() + m);
        for (int64_t i = 0; i < m; ++i) s_.step.push_back(std::max(0.0, C.data()[i]) / s_.mean_C);
        s_.pull.assign(size_t(m), 0.0);
        s_.w.assign(size_t(X.n_cols()) + 1, 0.0);
        // The papers' choice: the dense work every `skip` rows then costs a sixteenth of the sparse work between.
        const double skip = 16 * double(m) * double(X.n_cols()) / std::max(1.0, double(X.nnz()));
        s_.skip = int64_t(std::clamp(skip, 1.0, 1e18));
        begin(1.0, s_);
    }

    void begin_with(double rate) {
        if (!(rate > 0)) throw std::invalid_argument("the first rate must be positive");
        begin(rate, s_);
    }

    double one_pass() {
        nb::gil_scoped_release release;
        return s_.mean_C * with_epochs(s_, [&](auto epochs) { return epochs.one_pass(order_.next_pass()); });
    }

    // One pass over n rows, the same ones every time, from w = 0 with that first rate; the objective (per unit of
    // weight) that it reaches on them.
    double trial(int64_t n, double rate) {
        nb::gil_scoped_release release;
        const std::vector<uint32_t>& sample = trial_rows(trial_, order_, n);
        QuasiNewtonState s = s_;
        std::fill(s.w.begin(), s.w.end(), 0.0);
        begin(rate, s);
        with_epochs(s, [&](auto epochs) { return epochs.one_pass(sample); });
        const double loss = with_margin_loss(loss_, [&](const auto& l) {
            return X_.visit([&](const auto& rows) {
                double sum = 0;
                for (const uint32_t i : sample)
                    sum += s.step[i] * l.value(rows[i].dot(s.w.data()) + s.rho * s.w.back(), s.y[i]);
                return sum;
            });
        });
        double sqnorm = 0;
        for (const double w : s.w) sqnorm += w * w;
        return 0.5 * s.lambda * sqnorm + loss / double(sample.size());
    }

    void restart_pulls() {
        std::fill(s_.pull.begin(), s_.pull.end(), 0.0);
        s_.epochs = 0;
    }

    double weights(Array<Out> w) const {
        checked(w, X_.n_cols(), "w");
        std::copy(s_.w.begin(), s_.w.end() - 1, w.data());
        return s_.rho * s_.w.back();
    }
    void set_weights(Array<In> w, double intercept) {
        checked(w, X_.n_cols(), "w");
        std::copy_n(w.data(), w.size(), s_.w.begin());
        s_.w.back() = s_.rho > 0 ? intercept / s_.rho : 0.0;
        s_.measure = false;
    }
    void dual(Array<Out> v) const {
        checked(v, X_.n_rows(), "v");
        const double epochs = std::max<double>(1.0, double(s_.epochs));
        for (size_t i = 0; i < s_.y.size(); ++i) v.data()[i] = s_.y[i] * s_.step[i] * s_.mean_C * s_.pull[i] / epochs;
    }

  private:
    static void begin(double rate, QuasiNewtonState& s) {
        s.rate.assign(s.w.size(), rate);
        s.until_decay = s.skip;
        s.measure = false;
    }

    RowStore X_;
    LossSpec loss_;
    QuasiNewtonState s_;
    Order order_;
    std::vector<uint32_t> trial_;  // the rows that judge a first rate
};

}  // namespace

void bind_sgd_qn(nb::module_& m) {
    using nb::arg;
    nb::class_<QuasiNewtonSolver>(m, "QuasiNewtonSgd", "SGD-QN: its state and its passes.")
        .def(nb::init<const RowStore&, const LossSpec&, Array<In>, Array<In>, double, uint64_t>(), arg("X"),
             arg("loss"), arg("y"), arg("C"), arg("intercept_scaling"), arg("seed"))
        .def("begin", &QuasiNewtonSolver::begin_with, arg("rate"))
        .def("one_pass", &QuasiNewtonSolver::one_pass)
        .def("trial", &QuasiNewtonSolver::trial, arg("n"), arg("rate"))
        .def("restart_pulls", &QuasiNewtonSolver::restart_pulls)
        .def("weights", &QuasiNewtonSolver::weights, arg("w").noconvert())
        .def("set_weights", &QuasiNewtonSolver::set_weights, arg("w"), arg("intercept"))
        .def("dual", &QuasiNewtonSolver::dual, arg("v").noconvert());
}

}  // namespace widemargin
