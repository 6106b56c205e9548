// Dual coordinate descent for maximum entropy, with its state.
#include "core/descent/multinomial_dual_cd.hpp"

#include "bindings/descent/class_dual.hpp"

namespace widemargin {
namespace {

class MultinomialDualState : public ClassDual<EntropyDualState> {
  public:
    // There are no bounds that could hold a variable, hence no shrinking: the argument is there for both methods.
    MultinomialDualState(const RowStore& X, Array<const int32_t> y, Array<In> C, Array<In> private_part,
                         int64_t n_classes, double intercept_scaling, const std::string& order, uint32_t block, bool,
                         uint64_t seed, bool single)
        : ClassDual(X, y, C, private_part, order, {n_classes, intercept_scaling, block, seed, single}) {
        const int64_t m = X.n_rows(), k = n_classes;
        s_.log_alpha.assign(size_t(m * k), 0.0);
        s_.log_C.resize(size_t(m));
        for (int64_t i = 0; i < m; ++i) prepare_row(i);
    }

    void set_dual(Array<In> v) {
        const int64_t k = s_.n_classes;
        checked(v, int64_t(s_.alpha.size()), "v");
        for (size_t i = 0; i < s_.C.size(); ++i)
            if (!is_idle(i))
                for (int64_t c = 0; c < k; ++c) {
                    const double given = v.data()[int64_t(i) * k + c];
                    set_alpha(i, c, c == s_.y[i] ? s_.C[i] - given : -given);
                }
        restore();
        rebuild_weights(single_);
    }
    void dual(Array<Out> v) const {
        checked(v, int64_t(s_.alpha.size()), "v");
        for (size_t i = 0; i < s_.C.size(); ++i) s_.dual_row(int64_t(i), v.data() + int64_t(i) * s_.n_classes);
    }
    void restore() { order_.restore(); }
    void rebuild_weights(bool single) {
        rebuild(single, [&](int64_t i, double* v) { s_.dual_row(i, v); });
    }

    SequentialReport run(double relative_gap, double at_zero, double trust, int64_t max_passes, double max_seconds) {
        return run_method<MultinomialDualCD>({relative_gap, at_zero, trust, max_passes, max_seconds});
    }

  private:
    static constexpr double least_share = 1e-100;  // of C, that a class holds at the least when alpha is set

    void set_alpha(size_t i, int64_t c, double alpha) {
        const size_t at = i * size_t(s_.n_classes) + size_t(c);
        s_.alpha[at] = std::max(alpha, least_share * s_.C[i]);
        s_.log_alpha[at] = std::log(s_.alpha[at]);
    }

    // alpha begins at C e_y, where W = 0. A row without weight is left out for good; one without entries too: its
    // probabilities are equal whatever W is.
    void prepare_row(int64_t row) {
        const auto i = size_t(row);
        const int64_t k = s_.n_classes;
        const double C = s_.C[i];
        s_.log_C[i] = std::log(C);
        if (is_idle(i)) order_.exclude(uint32_t(row));
        if (!(C > 0)) return;
        for (int64_t c = 0; c < k; ++c) set_alpha(i, c, is_empty(i) ? C / double(k) : c == s_.y[i] ? C : 0.0);
        if (is_empty(i)) s_.dual += C * std::log(double(k));
    }
};

}  // namespace

void bind_multinomial_dual_cd(nb::module_& m) {
    nb::class_<MultinomialDualState> bound(m, "MultinomialDualCD",
                                           "The state of dual coordinate descent for maximum entropy.");
    bind_class_dual(bound);
}

}  // namespace widemargin
