// Best labelings and the scores of given ones.
#include "core/chains/labelings.hpp"

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

void check_scores(const Chains& chains, const Array<In>& z, const Array<In>& edge) {
    checked(z, chains.n_tokens() * chains.n_labels(), "z"), checked(edge, chains.n_pairs(), "edge");
    check_finite(z, "z"), check_finite(edge, "edge");
}

void chain_viterbi_(const Chains& chains, Array<In> z, Array<In> edge, Array<In> cost, Labels truth, Labels known,
                    Array<int32_t> labels, Array<Out> scores, int n_threads) {
    check_scores(chains, z, edge);
    checked(labels, chains.n_tokens(), "labels"), checked(scores, chains.n_sequences(), "scores");
    const Costs costs = cost.size() > 0 ? checked_costs(chains, cost, truth) : Costs{};
    if (known.size() > 0) check_labels(known, chains.n_tokens(), chains.n_labels(), -1, "known");
    nb::gil_scoped_release release;
    chain_viterbi(chains, z.data(), edge.data(), costs, known.size() > 0 ? known.data() : nullptr, labels.data(),
                  scores.data(), n_threads);
}

void chain_nbest_(const Chains& chains, Array<In> z, Array<In> edge, int64_t n, Array<int32_t> labels,
                  Array<Out> scores, Array<int64_t> found, int n_threads) {
    check_scores(chains, z, edge);
    if (n < 1) throw std::invalid_argument("n must be positive");
    checked(labels, n * chains.n_tokens(), "labels"), checked(scores, n * chains.n_sequences(), "scores");
    checked(found, chains.n_sequences(), "found");
    nb::gil_scoped_release release;
    chain_nbest(chains, z.data(), edge.data(), n, labels.data(), scores.data(), found.data(), n_threads);
}

void chain_scores_of_(const Chains& chains, Array<In> z, Array<In> edge, Labels labels, Array<Out> scores) {
    check_scores(chains, z, edge);
    check_labels(labels, chains.n_tokens(), chains.n_labels(), 0, "labels");
    checked(scores, chains.n_sequences(), "scores");
    nb::gil_scoped_release release;
    chain_scores_of(chains, z.data(), edge.data(), labels.data(), scores.data());
}

}  // namespace

void bind_chain_labelings(nb::module_& m) {
    using nb::arg;
    m.def("chain_viterbi", &chain_viterbi_, arg("chains"), arg("z"), arg("edge"), arg("cost"), arg("truth"),
          arg("known"), arg("labels").noconvert(), arg("scores").noconvert(), arg("n_threads") = 1,
          "The best labelings; an empty cost is none, and `known` fixes labels where it is not -1.");
    m.def("chain_nbest", &chain_nbest_, arg("chains"), arg("z"), arg("edge"), arg("n"), arg("labels").noconvert(),
          arg("scores").noconvert(), arg("found").noconvert(), arg("n_threads") = 1);
    m.def("chain_scores_of", &chain_scores_of_, arg("chains"), arg("z"), arg("edge"), arg("labels"),
          arg("scores").noconvert());
}

}  // namespace widemargin
