// Sequences and pairs, as Python holds them.
#include "core/chains/layout.hpp"

#include "bindings/chains/chain_args.hpp"
#include "core/chains/token_gram.hpp"

namespace widemargin {
namespace {

Chains make_chains(Array<const int64_t> offsets, int64_t n_labels) {
    return {std::vector<int64_t>(offsets.data(), offsets.data() + offsets.size()), n_labels};
}

// Empty arrays stand for all pairs.
PairList make_pairs(Array<const int64_t> start, Array<const int32_t> labels) {
    PairList pairs{{start.data(), start.data() + start.size()}, {labels.data(), labels.data() + labels.size()}};
    if (pairs.all() && pairs.labels.empty()) return pairs;
    if (pairs.all() || pairs.start.front() != 0 || pairs.start.back() != int64_t(pairs.labels.size()))
        throw std::invalid_argument("start must go from 0 to the number of pairs");
    for (size_t j = 1; j < pairs.start.size(); ++j) {
        if (pairs.start[j] < pairs.start[j - 1]) throw std::invalid_argument("start must not descend");
        for (int64_t p = pairs.start[j - 1]; p < pairs.start[j]; ++p)
            if (pairs.labels[size_t(p)] < 0 ||
                (p > pairs.start[j - 1] && pairs.labels[size_t(p)] <= pairs.labels[size_t(p) - 1]))
                throw std::invalid_argument("the labels of a feature must ascend from 0 on");
    }
    return pairs;
}

// Where each sequence's products begin, and their number.
std::vector<int64_t> gram_starts(const Chains& chains) {
    std::vector<int64_t> starts{0};
    for (int64_t i = 0; i < chains.n_sequences(); ++i)
        starts.push_back(starts.back() + chains.length(i) * chains.length(i));
    return starts;
}

void token_gram_(const RowStore& X, const Chains& chains, Array<float> gram, int n_threads) {
    const auto starts = gram_starts(chains);
    checked(gram, starts.back(), "gram");
    if (X.n_rows() != chains.n_tokens()) throw std::invalid_argument("X must have one row per token");
    nb::gil_scoped_release release;
    X.visit([&](const auto& rows) { token_gram(rows, chains, starts.data(), gram.data(), n_threads); });
}

void pair_scores_(const RowStore& X, const Chains& chains, const PairList& pairs, Array<Out> w, Array<Out> z,
                  int n_threads) {
    checked(z, chains.n_tokens() * chains.n_labels(), "z");
    nb::gil_scoped_release release;
    with_table(X, chains, pairs, w, [&](const auto& rows, const auto& table) {
        over_rows(rows, n_threads, [&](int64_t t) { table.scores(rows[t], z.data() + t * chains.n_labels()); });
    });
}

void pair_adjoint_(const RowStore& X, const Chains& chains, const PairList& pairs, Array<In> u, Array<Out> w) {
    checked(u, chains.n_tokens() * chains.n_labels(), "u");
    nb::gil_scoped_release release;
    with_table(X, chains, pairs, w, [&](const auto& rows, const auto& table) {
        for (int64_t t = 0; t < rows.n_rows; ++t) table.add(rows[t], u.data() + t * chains.n_labels());
    });
}

}  // namespace

void bind_chains(nb::module_& m) {
    using nb::arg;
    nb::class_<Chains>(m, "Chains", "Sequences of tokens laid end to end, each token with one of n_labels labels.")
        .def(
            "__init__",
            [](Chains* at, Array<const int64_t> offsets, int64_t n_labels) {
                new (at) Chains(make_chains(offsets, n_labels));
            },
            arg("offsets"), arg("n_labels"))
        .def_prop_ro("n_labels", &Chains::n_labels)
        .def_prop_ro("n_sequences", &Chains::n_sequences)
        .def_prop_ro("n_tokens", &Chains::n_tokens)
        .def_prop_ro("longest", &Chains::longest);
    nb::class_<PairList>(m, "Pairs", "The pairs of (feature, label) that have weights; empty arrays for all.")
        .def(
            "__init__",
            [](PairList* at, Array<const int64_t> start, Array<const int32_t> labels) {
                new (at) PairList(make_pairs(start, labels));
            },
            arg("start"), arg("labels"));
    m.def("token_gram", &token_gram_, arg("X"), arg("chains"), arg("gram").noconvert(), arg("n_threads") = 1);
    m.def("pair_scores", &pair_scores_, arg("X"), arg("chains"), arg("pairs"), arg("w").noconvert(),
          arg("z").noconvert(), arg("n_threads") = 1);
    m.def("pair_adjoint", &pair_adjoint_, arg("X"), arg("chains"), arg("pairs"), arg("u"), arg("w").noconvert());
}

}  // namespace widemargin
