// The quadratic model of newGLMNET with its state.
#include "core/descent/newglmnet.hpp"

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

class ModelState {
  public:
    ModelState(const RowStore& columns, double rho, double intercept_scale, bool intercept_penalised, uint64_t seed)
        : X_(columns),
          penalty_{rho, 1 - rho},
          intercept_penalty_{intercept_penalised ? rho : 0.0, intercept_penalised ? 1 - rho : 0.0},
          ones_{intercept_scale, columns.n_cols()},
          columns_(size_t(columns.n_rows())),
          rows_(size_t(columns.n_cols())),
          rng_(seed) {
        if (!(rho >= 0 && rho <= 1)) throw std::invalid_argument("rho must be between 0 and 1");
        active_.resize(columns_.size());
        for (size_t j = 0; j < active_.size(); ++j) active_[j] = uint32_t(j);
    }

    void set_weights(Array<In> w, double intercept) {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < columns_.size(); ++j) columns_[j].w = columns_[j].next = w.data()[j];
        intercept_.w = intercept_.next = ones_.value != 0 ? intercept / ones_.value : 0.0;
    }
    void weights(Array<Out> w) const {
        checked(w, X_.n_rows(), "w");
        for (size_t j = 0; j < columns_.size(); ++j) w.data()[j] = columns_[j].w;
    }
    double intercept() const { return intercept_.w * ones_.value; }

    // The slopes of the active columns at a new iterate, and the working set.
    OuterReport begin(Array<In> u, Array<In> h) {
        checked(u, X_.n_cols(), "u"), checked(h, X_.n_cols(), "h");
        nb::gil_scoped_release release;
        for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = {h.data()[i], 0.0};
        working_.clear();
        report_ = {};
        X_.visit([&](const auto& X) {
            NewtonModel(X, penalty_, columns_, rows_).measure(u.data(), inside_, active_, dropped_, working_, report_);
        });
        if (ones_.value != 0) begin_intercept(u.data());
        return concluded();
    }

    // The same for the dropped columns: those that count again return. To be called after `begin`.
    OuterReport look_again(Array<In> u) {
        checked(u, X_.n_cols(), "u");
        nb::gil_scoped_release release;
        std::vector<uint32_t> back = std::move(dropped_);
        dropped_.clear();
        X_.visit([&](const auto& X) {
            NewtonModel(X, penalty_, columns_, rows_).measure(u.data(), inside_, back, dropped_, working_, report_);
        });
        active_.insert(active_.end(), back.begin(), back.end());
        return concluded();
    }

    // To be called once after `begin` and `look_again`, before the model is solved: which columns take part.
    int64_t choose(double least_violation) {
        nb::gil_scoped_release release;
        X_.visit([&](const auto& X) { NewtonModel(X, penalty_, columns_, rows_).choose(working_, least_violation); });
        n_live_ = working_.size();
        return int64_t(working_.size());
    }

    // Passes over the model until the sum of the violations is at most `tolerance` or the time is over.
    InnerReport solve(double tolerance, int64_t max_passes, double max_seconds) {
        const auto start = std::chrono::steady_clock::now();
        InnerReport report;
        nb::gil_scoped_release release;
        while (report.passes < max_passes) {
            const bool whole = n_live_ == working_.size();
            report.violation = one_pass(report);
            ++report.passes;
            if (report.violation <= tolerance) {
                if (whole) {
                    report.done = true;
                    break;
                }
                n_live_ = working_.size();
                inner_inside_ = infinity;
            }
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > max_seconds) break;
        }
        return report;
    }

    // The working columns in the model: their weights, the slopes of the loss at the outer iterate and the curvatures.
    void model(Array<uint32_t> columns, Array<Out> next, Array<Out> slope, Array<Out> curvature) const {
        const auto n = int64_t(working_.size());
        checked(columns, n, "columns"), checked(next, n, "next");
        checked(slope, n, "slope"), checked(curvature, n, "curvature");
        for (size_t k = 0; k < working_.size(); ++k) {
            const ModelColumn& at = columns_[working_[k]];
            columns.data()[k] = working_[k];
            next.data()[k] = at.next;
            slope.data()[k] = at.slope - penalty_.ridge * at.w;
            curvature.data()[k] = at.curvature;
        }
    }

    // Moves the model to these weights of the working columns, in the order that `model` told, with t = X d there.
    void set_model(Array<In> next, double intercept, Array<In> t) {
        checked(next, int64_t(working_.size()), "next"), checked(t, X_.n_cols(), "t");
        for (size_t k = 0; k < working_.size(); ++k) columns_[working_[k]].next = next.data()[k];
        for (size_t i = 0; i < rows_.size(); ++i) rows_[i].t = t.data()[i];
        if (ones_.value != 0) intercept_.next = intercept / ones_.value;
        n_live_ = working_.size();
        inner_inside_ = infinity;
    }
    double model_intercept() const { return intercept_.next * ones_.value; }
    double intercept_slope() const { return intercept_.slope - intercept_penalty_.ridge * intercept_.w; }

    // X d, the direction seen from the rows.
    void direction(Array<Out> t) const {
        checked(t, X_.n_cols(), "t");
        for (size_t i = 0; i < rows_.size(); ++i) t.data()[i] = rows_[i].t;
    }

    // R(w + lambda d) - R(w)
    double penalty_change(double lambda) const {
        double sum = 0;
        for_moved([&](const ModelColumn& at, const PrimalPenalty& penalty) {
            sum += penalty.value(at.w + lambda * (at.next - at.w)) - penalty.value(at.w);
        });
        return sum;
    }

    // The decrease promised to first order: slopes . d + rho (|w + d|_1 - |w|_1)
    double promised() const {
        double sum = 0;
        for_moved([&](const ModelColumn& at, const PrimalPenalty& penalty) {
            sum += at.slope * (at.next - at.w) + penalty.rho * (std::abs(at.next) - std::abs(at.w));
        });
        return sum;
    }

    // w <- w + lambda d
    void accept(double lambda) {
        const auto move = [&](ModelColumn& at) {
            at.next = at.w = lambda == 1 ? at.next : at.w + lambda * (at.next - at.w);
        };
        for (const uint32_t j : working_) move(columns_[j]);
        move(intercept_);
    }

    double penalty() const {
        double sum = intercept_penalty_.value(intercept_.w);
        for (const auto& at : columns_) sum += penalty_.value(at.w);
        return sum;
    }

  private:
    OuterReport concluded() {
        report_.n_active = int64_t(active_.size());
        inside_ = report_.largest_violation / double(rows_.size());
        n_live_ = working_.size();
        inner_inside_ = infinity;
        return report_;
    }

    void begin_intercept(const double* u) {
        double g = 0;
        for (size_t i = 0; i < rows_.size(); ++i) g += u[i] * ones_.value;
        intercept_.slope = g + intercept_penalty_.ridge * intercept_.w;
        intercept_.next = intercept_.w;
        double h = intercept_penalty_.ridge + 1e-12;
        for (const ModelRow& row : rows_) h += row.h * ones_.value * ones_.value;
        intercept_.curvature = h;
        report_.violation += intercept_penalty_.violation(intercept_.w, intercept_.slope);
        if (intercept_penalty_.rho > 0) report_.largest_slope = std::max(report_.largest_slope, std::abs(g));
        report_.tilt += intercept_penalty_.value(intercept_.w) + intercept_.w * g;
        if (intercept_penalty_.ridge > 0) report_.gap += intercept_penalty_.gap(intercept_.w, g);
    }

    double one_pass(InnerReport& report) {
        for (size_t k = n_live_; k > 1; --k) std::swap(working_[k - 1], working_[rng_.below(uint32_t(k))]);
        report.steps += int64_t(n_live_);
        return X_.visit([&](const auto& X) {
            NewtonModel model(X, penalty_, columns_, rows_);
            NewtonModel constant(X, intercept_penalty_, columns_, rows_);
            double largest = 0;
            const double b = ones_.value != 0 ? constant.step(ones_, intercept_) : 0.0;
            const double sum = model.pass(working_, n_live_, inner_inside_, largest, report.entries);
            inner_inside_ = largest / double(rows_.size());
            return sum + b;
        });
    }

    template <class F>
    void for_moved(F&& f) const {
        for (const uint32_t j : working_)
            if (columns_[j].next != columns_[j].w) f(columns_[j], penalty_);
        if (intercept_.next != intercept_.w) f(intercept_, intercept_penalty_);
    }

    RowStore X_;
    PrimalPenalty penalty_, intercept_penalty_;
    ConstantColumn ones_;
    std::vector<ModelColumn> columns_;
    ModelColumn intercept_;
    std::vector<ModelRow> rows_;
    std::vector<uint32_t> active_, dropped_, working_;
    OuterReport report_;
    size_t n_live_ = 0;
    double inside_ = infinity, inner_inside_ = infinity;
    Rng rng_;
};

}  // namespace

void bind_newglmnet(nb::module_& m) {
    using nb::arg;
    nb::class_<OuterReport>(m, "OuterReport")
        .def_ro("n_active", &OuterReport::n_active)
        .def_ro("n_support", &OuterReport::n_support)
        .def_ro("violation", &OuterReport::violation)
        .def_ro("largest_violation", &OuterReport::largest_violation)
        .def_ro("largest_slope", &OuterReport::largest_slope)
        .def_ro("tilt", &OuterReport::tilt)
        .def_ro("gap", &OuterReport::gap);
    nb::class_<InnerReport>(m, "InnerReport")
        .def_ro("passes", &InnerReport::passes)
        .def_ro("steps", &InnerReport::steps)
        .def_ro("entries", &InnerReport::entries)
        .def_ro("violation", &InnerReport::violation)
        .def_ro("done", &InnerReport::done);
    nb::class_<ModelState>(m, "NewtonModel", "The quadratic model of newGLMNET: its state and its passes over columns.")
        .def(nb::init<const RowStore&, double, double, bool, uint64_t>(), arg("columns"), arg("rho"),
             arg("intercept_scale"), arg("intercept_penalised"), arg("seed"))
        .def("set_weights", &ModelState::set_weights, arg("w"), arg("intercept"))
        .def("weights", &ModelState::weights, arg("w").noconvert())
        .def("begin", &ModelState::begin, arg("u"), arg("h"))
        .def("look_again", &ModelState::look_again, arg("u"))
        .def("choose", &ModelState::choose, arg("least_violation"))
        .def("solve", &ModelState::solve, arg("tolerance"), arg("max_passes"), arg("max_seconds"))
        .def("model", &ModelState::model, arg("columns").noconvert(), arg("next").noconvert(), arg("slope").noconvert(),
             arg("curvature").noconvert())
        .def("set_model", &ModelState::set_model, arg("next"), arg("intercept"), arg("t"))
        .def_prop_ro("model_intercept", &ModelState::model_intercept)
        .def_prop_ro("intercept_slope", &ModelState::intercept_slope)
        .def("direction", &ModelState::direction, arg("t").noconvert())
        .def("penalty_change", &ModelState::penalty_change, arg("step"))
        .def("promised", &ModelState::promised)
        .def("accept", &ModelState::accept, arg("step"))
        .def("penalty", &ModelState::penalty)
        .def_prop_ro("intercept", &ModelState::intercept);
}

}  // namespace widemargin
