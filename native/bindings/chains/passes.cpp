// Passes of forward and backward over sequences.
#include "core/chains/passes.hpp"

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

void chain_posteriors_(const Chains& chains, Array<In> z, Array<In> edges, Array<Out> log_z, Array<Out> entropy,
                       Array<Out> mu, Array<Out> edge_sums, int n_threads) {
    const int64_t cells = chains.n_tokens() * chains.n_labels(), n = chains.n_sequences();
    const EdgeScores scores = checked_edges(chains, edges);
    checked(z, cells, "z"), checked(mu, cells, "mu"), checked(edge_sums, n * chains.n_pairs(), "edge_sums");
    checked(log_z, n, "log_z"), checked(entropy, n, "entropy");
    nb::gil_scoped_release release;
    chain_posteriors(chains, z.data(), scores, {log_z.data(), entropy.data(), mu.data(), edge_sums.data()}, n_threads);
}

void chain_expectations_(const Chains& chains, Array<In> C, Array<In> z, Array<In> edge, Array<Out> log_z,
                         Array<Out> mu, Array<Out> edge_sum, int n_threads) {
    const int64_t cells = chains.n_tokens() * chains.n_labels();
    check_weights(C, chains.n_sequences());
    checked(z, cells, "z"), checked(mu, cells, "mu"), checked(log_z, chains.n_sequences(), "log_z");
    checked(edge, chains.n_pairs(), "edge"), checked(edge_sum, chains.n_pairs(), "edge_sum");
    nb::gil_scoped_release release;
    chain_expectations(chains, C.data(), z.data(), edge.data(), log_z.data(), mu.data(), edge_sum.data(), n_threads);
}

void chain_tangent_(const Chains& chains, Array<In> C, Array<In> z, Array<In> edge, Array<In> a, Array<In> b,
                    Array<Out> change, Array<Out> edge_change, int n_threads) {
    const int64_t cells = chains.n_tokens() * chains.n_labels();
    check_weights(C, chains.n_sequences());
    checked(z, cells, "z"), checked(a, cells, "a"), checked(change, cells, "change");
    checked(edge, chains.n_pairs(), "edge"), checked(b, chains.n_pairs(), "b");
    checked(edge_change, chains.n_pairs(), "edge_change");
    nb::gil_scoped_release release;
    chain_tangent(chains, C.data(), z.data(), edge.data(), a.data(), b.data(), change.data(), edge_change.data(),
                  n_threads);
}

}  // namespace

void bind_chain_passes(nb::module_& m) {
    using nb::arg;
    m.def("chain_posteriors", &chain_posteriors_, arg("chains"), arg("z"), arg("edges"), arg("log_z").noconvert(),
          arg("entropy").noconvert(), arg("mu").noconvert(), arg("edge_sums").noconvert(), arg("n_threads") = 1,
          "log Z, entropy, marginals and summed marginals of edges; edges: one table, or one for each sequence.");
    m.def("chain_expectations", &chain_expectations_, arg("chains"), arg("C"), arg("z"), arg("edge"),
          arg("log_z").noconvert(), arg("mu").noconvert(), arg("edge_sum").noconvert(), arg("n_threads") = 1,
          "log Z of each sequence, C_i times its marginals, and the sum of C_i times those of edges.");
    m.def("chain_tangent", &chain_tangent_, arg("chains"), arg("C"), arg("z"), arg("edge"), arg("a"), arg("b"),
          arg("change").noconvert(), arg("edge_change").noconvert(), arg("n_threads") = 1,
          "How C_i times the marginals change along scores (a, b), and the sum of those of edges.");
}

}  // namespace widemargin
