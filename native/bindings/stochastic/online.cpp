// Online learning over cells that the caller keeps: so that they can be saved and continued exactly.
#include "core/stochastic/online.hpp"

#include <nanobind/stl/string_view.h>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

void check_width(const RowStore& X, int64_t width, bool hashed) {
    if (width < 1) throw std::invalid_argument("the table needs at least one cell");
    if (hashed && (width & (width - 1)) != 0) throw std::invalid_argument("a hashed table's width is a power of two");
    if (!hashed && X.n_cols() > width)
        throw std::invalid_argument("X has " + std::to_string(X.n_cols()) + " columns, the table has " +
                                    std::to_string(width));
}

double learn(const RowStore& X, const LossSpec& loss, std::string_view method, const OnlineSettings& s,
             Array<Out> cells, Array<Out> totals, Array<In> y, Array<In> weight, Array<const int64_t> order) {
    check_width(X, s.width, s.hashed);
    static_assert(sizeof(OnlineCell) == 4 * sizeof(double) && sizeof(OnlineTotals) == 5 * sizeof(double));
    if (s.n_outputs < 1) throw std::invalid_argument("at least one output is needed");
    checked(cells, 4 * s.n_outputs * (s.width + 1), "cells"), checked(totals, 5, "totals");
    checked(y, X.n_rows(), "y"), checked(weight, X.n_rows(), "weight");
    const auto n = int64_t(order.size());
    for (int64_t k = 0; k < n; ++k)
        if (order.data()[k] < 0 || order.data()[k] >= X.n_rows())
            throw std::invalid_argument("order names row " + std::to_string(order.data()[k]) + ", X has " +
                                        std::to_string(X.n_rows()));
    if (method != "adagrad" && method != "ftrl") throw std::invalid_argument("unknown method: use adagrad or ftrl");
    auto* table = reinterpret_cast<OnlineCell*>(cells.data());
    auto& counts = *reinterpret_cast<OnlineTotals*>(totals.data());
    nb::gil_scoped_release release;
    return with_loss(loss, [&]<class Loss>(const Loss& l) {
        const OnlineLossOf<Loss> seen(l);
        const OnlineLoss& any = seen;
        return X.visit([&](const auto& rows) {
            const auto with = [&](auto how) {
                return online_pass(rows, s, any, how, table, counts, y.data(), weight.data(), order.data(), n);
            };
            return method == "ftrl" ? with(Ftrl(s, any)) : with(AdaGrad(s, any));
        });
    });
}

void hashed_matvec_(const RowStore& X, Array<In> w, double b, Array<Out> z) {
    check_width(X, int64_t(w.size()), true);
    checked(z, X.n_rows(), "z");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { hashed_matvec(rows, w.data(), int64_t(w.size()), b, z.data()); });
}

}  // namespace

void bind_online(nb::module_& m) {
    using nb::arg;
    nb::class_<OnlineSettings>(m, "OnlineSettings")
        .def(
            "__init__",
            [](OnlineSettings* self, double learning_rate, double beta, double l1, double l2, bool intercept,
               bool classification, int64_t n_outputs, int64_t width, bool hashed) {
                new (self)
                    OnlineSettings{learning_rate, beta, l1, l2, intercept, classification, n_outputs, width, hashed};
            },
            arg("learning_rate"), arg("beta"), arg("l1"), arg("l2"), arg("intercept"), arg("classification"),
            arg("n_outputs"), arg("width"), arg("hashed"));
    m.def("online_learn", &learn, arg("X"), arg("loss"), arg("method"), arg("settings"), arg("cells").noconvert(),
          arg("totals").noconvert(), arg("y"), arg("weight"), arg("order"));
    m.def("hashed_matvec", &hashed_matvec_, arg("X"), arg("w"), arg("b"), arg("z").noconvert());
}

}  // namespace widemargin
