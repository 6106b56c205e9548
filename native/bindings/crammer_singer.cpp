// The sequential dual method for Crammer and Singer's SVM, with its state.
#include "core/crammer_singer.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "core/passes.hpp"
#include "row_store.hpp"

namespace widemargin {
namespace {

class CrammerSingerState {
  public:
    CrammerSingerState(const RowStore& X, Array<const int32_t> y, Array<In> C, int64_t n_classes,
                       double intercept_scaling, const std::string& order, bool shrinking, uint64_t seed)
        : X_(X), order_(Order::parse(order), checked_count(X.n_rows()), seed) {
        const int64_t m = X.n_rows();
        if (n_classes < 2) throw std::invalid_argument("n_classes must be at least 2");
        checked(y, m, "y"), checked(C, m, "C");
        s_.n_features = X.n_cols(), s_.n_classes = n_classes;
        s_.scale_squared = intercept_scaling * intercept_scaling;
        s_.shrinking = shrinking;
        s_.y.assign(y.data(), y.data() + m);
        s_.C.assign(C.data(), C.data() + m);
        s_.sqnorms.resize(size_t(m));
        X.visit([&](const auto& rows) { row_sqnorms(rows, s_.sqnorms.data()); });
        s_.alpha.assign(size_t(m * n_classes), 0.0);
        s_.w.assign(size_t(X.n_cols() * n_classes), 0.0);
        s_.intercepts.assign(size_t(n_classes), 0.0);
        s_.in_play.assign(size_t(m), uint32_t(n_classes));
        s_.classes.resize(size_t(m * n_classes));
        for (int64_t i = 0; i < m; ++i) prepare_row(i);
    }

    void set_dual(Array<In> alpha) {
        checked(alpha, int64_t(s_.alpha.size()), "alpha");
        std::copy_n(alpha.data(), s_.alpha.size(), s_.alpha.begin());
    }
    void dual(Array<Out> alpha) const {
        checked(alpha, int64_t(s_.alpha.size()), "alpha");
        std::copy(s_.alpha.begin(), s_.alpha.end(), alpha.data());
    }
    void set_weights(Array<In> w) {
        checked(w, int64_t(s_.w.size()), "w");
        std::copy_n(w.data(), s_.w.size(), s_.w.begin());
    }
    void weights(Array<Out> w) const {
        checked(w, int64_t(s_.w.size()), "w");
        std::copy(s_.w.begin(), s_.w.end(), w.data());
    }
    void set_intercepts(Array<In> b) {
        checked(b, s_.n_classes, "b");
        std::copy_n(b.data(), s_.intercepts.size(), s_.intercepts.begin());
    }
    void intercepts(Array<Out> b) const {
        checked(b, s_.n_classes, "b");
        std::copy(s_.intercepts.begin(), s_.intercepts.end(), b.data());
    }
    void restore() {
        order_.restore();
        s_.let_all_in();
    }
    void become_adaptive() { order_.become_adaptive(); }

    SequentialReport run(double relative_gap, double trust, int64_t max_passes, double max_seconds) {
        nb::gil_scoped_release release;
        return X_.visit([&]<class Rows>(const Rows& rows) {
            return CrammerSinger<Rows>(rows, s_).run(order_, {relative_gap, trust, max_passes, max_seconds});
        });
    }

    double dual_value() const { return s_.dual; }
    void set_dual_value(double value) { s_.dual = value; }

  private:
    static uint32_t checked_count(int64_t n) {
        if (n > int64_t(UINT32_MAX)) throw std::invalid_argument("more than 4294967295 rows");
        return uint32_t(n);
    }

    // A row without weight is left out for good; one without entries too: its loss is C whatever W is, and alpha
    // says so.
    void prepare_row(int64_t i) {
        const int64_t k = s_.n_classes;
        const int32_t own = s_.y[size_t(i)];
        const double C = s_.C[size_t(i)];
        if (own < 0 || own >= k)
            throw std::invalid_argument("y[" + std::to_string(i) + "] is " + std::to_string(own) + ", outside 0 .. " +
                                        std::to_string(k - 1));
        std::iota(&s_.classes[size_t(i * k)], &s_.classes[size_t(i * k)] + k, 0u);
        const bool empty = s_.sqnorms[size_t(i)] + s_.scale_squared == 0;
        if (C > 0 && !empty) return;
        order_.exclude(uint32_t(i));
        if (!(C > 0)) return;
        for (int64_t c = 0; c < k; ++c) s_.alpha[size_t(i * k + c)] = c == own ? C : -C / double(k - 1);
        s_.dual += C;
    }

    RowStore X_;
    Order order_;
    SequentialState s_;
};

}  // namespace

void bind_crammer_singer(nb::module_& m) {
    using nb::arg;
    nb::class_<SequentialReport>(m, "SequentialReport")
        .def_ro("passes", &SequentialReport::passes)
        .def_ro("steps", &SequentialReport::steps)
        .def_ro("n_active", &SequentialReport::n_active)
        .def_ro("dual", &SequentialReport::dual)
        .def_ro("gap", &SequentialReport::gap)
        .def_ro("violation", &SequentialReport::violation)
        .def_ro("looks_done", &SequentialReport::looks_done);
    nb::class_<CrammerSingerState>(m, "CrammerSinger", "The state of the sequential dual method.")
        .def(nb::init<const RowStore&, Array<const int32_t>, Array<In>, int64_t, double, const std::string&, bool,
                      uint64_t>(),
             arg("X"), arg("y"), arg("C"), arg("n_classes"), arg("intercept_scaling"), arg("order"), arg("shrinking"),
             arg("seed"))
        .def("set_dual", &CrammerSingerState::set_dual, arg("alpha"))
        .def("dual", &CrammerSingerState::dual, arg("alpha").noconvert())
        .def("set_weights", &CrammerSingerState::set_weights, arg("w"))
        .def("weights", &CrammerSingerState::weights, arg("w").noconvert())
        .def("set_intercepts", &CrammerSingerState::set_intercepts, arg("b"))
        .def("intercepts", &CrammerSingerState::intercepts, arg("b").noconvert())
        .def("restore", &CrammerSingerState::restore)
        .def("become_adaptive", &CrammerSingerState::become_adaptive)
        .def("run", &CrammerSingerState::run, arg("relative_gap"), arg("trust"), arg("max_passes"), arg("max_seconds"))
        .def_prop_rw("dual_value", &CrammerSingerState::dual_value, &CrammerSingerState::set_dual_value);
}

}  // namespace widemargin
