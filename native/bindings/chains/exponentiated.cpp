// Steps of the dual exponentiated gradient method.
#include "core/chains/exponentiated.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

std::tuple<int64_t, double, double, int64_t, int64_t> exponentiated_(
    const RowStore& X, const Chains& chains, const PairList& pairs, Array<In> C, Array<Out> w, Array<Out> edge_w,
    Array<In> used, Array<Out> theta, Array<Out> theta_edge, Array<Out> mu, Array<Out> edge_sums, Array<Out> entropy,
    Array<Out> eta, Order order, int64_t first, int64_t ask_every, double seconds) {
    const int64_t cells = chains.n_tokens() * chains.n_labels(), n = chains.n_sequences();
    check_weights(C, n), check_order(order, first, n);
    if (ask_every < 1) throw std::invalid_argument("ask_every must be positive");
    checked(theta, cells, "theta"), checked(mu, cells, "mu"), checked(entropy, n, "entropy"), checked(eta, n, "eta");
    checked(theta_edge, n * chains.n_pairs(), "theta_edge"), checked(edge_sums, n * chains.n_pairs(), "edge_sums");
    const EdgeTable edges = checked_edge_table(chains, edge_w, used);
    const ExponentiatedState state{theta.data(),     theta_edge.data(), mu.data(),
                                   edge_sums.data(), entropy.data(),    eta.data()};
    ExponentiatedLook look;
    nb::gil_scoped_release release;
    with_table(X, chains, pairs, w, [&](const auto& rows, const auto& table) {
        look = ExponentiatedPass(rows, chains, C.data(), table, edges, state)
                   .run(order.data(), first, int64_t(order.size()), ask_every, seconds);
    });
    return {look.next, look.gained, look.gap, look.asked, look.rejected};
}

}  // namespace

void bind_exponentiated(nb::module_& m) {
    using nb::arg;
    m.def(
        "chain_exponentiated", &exponentiated_, arg("X"), arg("chains"), arg("pairs"), arg("C"), arg("w").noconvert(),
        arg("edge_w").noconvert(), arg("used"), arg("theta").noconvert(), arg("theta_edge").noconvert(),
        arg("mu").noconvert(), arg("edge_sums").noconvert(), arg("entropy").noconvert(), arg("eta").noconvert(),
        arg("order"), arg("first"), arg("ask_every"), arg("seconds"),
        "Visits sequences from order[first] on; returns where it stopped, what the dual gained, the gap of those that "
        "were asked, their number, and how many steps were undone.");
}

}  // namespace widemargin
