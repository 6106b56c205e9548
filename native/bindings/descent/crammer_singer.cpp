// The sequential dual method for Crammer and Singer's SVM, with its state.
#include "core/descent/crammer_singer.hpp"

#include <numeric>
#include <utility>

#include "bindings/descent/class_dual.hpp"

namespace widemargin {
namespace {

class CrammerSingerState : public ClassDual<SequentialState> {
  public:
    CrammerSingerState(const RowStore& X, Array<const int32_t> y, Array<In> C, Array<In> private_part,
                       int64_t n_classes, double intercept_scaling, const std::string& order, uint32_t block,
                       bool shrinking, uint64_t seed, bool single)
        : ClassDual(X, y, C, private_part, order, {n_classes, intercept_scaling, block, seed, single}) {
        const int64_t m = X.n_rows();
        s_.shrinking = shrinking;
        s_.in_play.assign(size_t(m), uint32_t(n_classes));
        s_.classes.resize(size_t(m * n_classes));
        for (int64_t i = 0; i < m; ++i) prepare_row(i);
    }

    void set_dual(Array<In> v) {
        checked(v, int64_t(s_.alpha.size()), "v");
        std::copy_n(v.data(), s_.alpha.size(), s_.alpha.begin());
        restore();
        rebuild_weights(single_);
    }
    void dual(Array<Out> v) const {
        checked(v, int64_t(s_.alpha.size()), "v");
        std::copy(s_.alpha.begin(), s_.alpha.end(), v.data());
    }
    // All rows and classes return.
    void restore() {
        order_.restore();
        s_.let_all_in();
    }
    void rebuild_weights(bool single) {
        const int64_t k = s_.n_classes;
        rebuild(single, [&](int64_t i, double* v) { std::copy_n(&s_.alpha[size_t(i * k)], k, v); });
    }

    SequentialReport run(double relative_gap, double at_zero, double trust, int64_t max_passes, double max_seconds) {
        return run_method<CrammerSinger>({relative_gap, at_zero, trust, max_passes, max_seconds});
    }

  private:
    // A row without weight is left out for good; one without entries too: its loss is C whatever W is, and alpha
    // says so.
    void prepare_row(int64_t i) {
        const int64_t k = s_.n_classes;
        const double C = s_.C[size_t(i)];
        uint32_t* classes = &s_.classes[size_t(i * k)];
        std::iota(classes, classes + k, 0u);
        std::swap(classes[0], classes[s_.y[size_t(i)]]);
        if (!is_idle(size_t(i))) return;
        order_.exclude(uint32_t(i));
        if (!(C > 0)) return;
        for (int64_t c = 0; c < k; ++c) s_.alpha[size_t(i * k + c)] = c == s_.y[size_t(i)] ? C : -C / double(k - 1);
        s_.dual += C;
    }
};

}  // namespace

void bind_crammer_singer(nb::module_& m) {
    nb::class_<SequentialReport>(m, "SequentialReport")
        .def_ro("passes", &SequentialReport::passes)
        .def_ro("steps", &SequentialReport::steps)
        .def_ro("n_active", &SequentialReport::n_active)
        .def_ro("dual", &SequentialReport::dual)
        .def_ro("gap", &SequentialReport::gap)
        .def_ro("violation", &SequentialReport::violation)
        .def_ro("looks_done", &SequentialReport::looks_done);
    nb::class_<CrammerSingerState> bound(m, "CrammerSinger", "The state of the sequential dual method.");
    bind_class_dual(bound);
}

}  // namespace widemargin
