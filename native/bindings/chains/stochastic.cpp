// Stochastic gradient steps over sequences.
#include "core/chains/stochastic.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

std::tuple<double, double> chain_sgd_(const RowStore& X, const Chains& chains, const PairList& pairs, Array<In> C,
                                      Array<In> cost, Labels truth, Array<Out> w, Array<Out> edge_w, Array<In> used,
                                      Order order, double t0, double done, double scale) {
    check_weights(C, chains.n_sequences()), check_order(order, 0, chains.n_sequences());
    if (!(t0 > 1 && done >= 0 && scale != 0)) throw std::invalid_argument("t0 must be above 1, and scale not zero");
    const Costs costs = checked_costs(chains, cost, truth);
    const EdgeTable edges = checked_edge_table(chains, edge_w, used);
    StochasticSteps steps{t0, done, scale};
    nb::gil_scoped_release release;
    with_table(X, chains, pairs, w, [&](const auto& rows, const auto& table) {
        ChainSgd(rows, chains, C.data(), costs, table, edges).run(order.data(), 0, int64_t(order.size()), steps);
    });
    return {steps.done, steps.scale};
}

}  // namespace

void bind_chain_sgd(nb::module_& m) {
    using nb::arg;
    m.def("chain_sgd", &chain_sgd_, arg("X"), arg("chains"), arg("pairs"), arg("C"), arg("cost"), arg("truth"),
          arg("w").noconvert(), arg("edge_w").noconvert(), arg("used"), arg("order"), arg("t0"), arg("done"),
          arg("scale"), "One step per sequence of the order, of the likelihood where cost is empty; steps and scale.");
}

}  // namespace widemargin
