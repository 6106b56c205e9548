// Stochastic gradient steps over sequences.
#include "core/chains/stochastic.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

// The sequences with their labels, and the labelings that steps of a structured SVM have met.
class ChainSgd {
  public:
    ChainSgd(const Chains& chains, Labels truth, Array<In> s)
        : chains_(chains), s_(s.data(), s.data() + s.size()), met_(checked_known(chains, truth)) {
        check_weights(s, chains.n_sequences());
        truth_.assign(truth.data(), truth.data() + truth.size());
        for (int64_t i = 0; i < chains.n_sequences(); ++i) met_.of(i).clear();
    }

    // An empty cost stands for the expectations of a CRF.
    std::tuple<int64_t, double> visit(const RowStore& X, const PairList& pairs, Array<In> cost, Array<Out> a,
                                      Array<Out> edge_a, Array<In> used, double lambda, double steps, Order order,
                                      int64_t first, double seconds) {
        check_order(order, first, chains_.n_sequences());
        if (!(lambda > 0 && steps > 0)) throw std::invalid_argument("lambda and steps must be positive");
        if (cost.size() > 0) checked(cost, chains_.n_pairs(), "cost"), check_finite(cost, "cost");
        const EdgeTable edges = checked_edge_table(chains_, edge_a, used);
        int64_t next = first;
        nb::gil_scoped_release release;
        with_table(X, chains_, pairs, a, [&](const auto& rows, const auto& table) {
            const auto run = [&](auto pull) {
                next = StochasticPass(rows, chains_, s_.data(), truth_.data(), table, edges, pull)
                           .run(order.data(), first, int64_t(order.size()), lambda, steps, seconds);
            };
            if (cost.size() == 0)
                run(ExpectedPull(chains_));
            else
                run(ViolatingPull(chains_, {cost.data(), truth_.data()}, met_));
        });
        return {next, steps};
    }

    // The labelings that were met: the sequence of each, how often, and its labels one after another.
    nb::tuple met() const {
        std::vector<int64_t> owner;
        std::vector<double> times;
        std::vector<int32_t> labels;
        for (int64_t i = 0; i < chains_.n_sequences(); ++i)
            for (const auto& y : met_.of(i)) {
                owner.push_back(i), times.push_back(y.share);
                labels.insert(labels.end(), y.labels.begin(), y.labels.end());
            }
        return nb::make_tuple(to_numpy(std::move(owner)), to_numpy(std::move(times)), to_numpy(std::move(labels)));
    }

  private:
    static KnownLabelings checked_known(const Chains& chains, const Labels& truth) {
        check_labels(truth, chains.n_tokens(), chains.n_labels(), 0, "y");
        return {chains, truth.data()};
    }

    Chains chains_;
    std::vector<double> s_;
    std::vector<int32_t> truth_;
    KnownLabelings met_;
};

}  // namespace

void bind_chain_sgd(nb::module_& m) {
    using nb::arg;
    nb::class_<ChainSgd>(m, "ChainSgd", "Stochastic gradient steps over sequences, and the labelings that they met.")
        .def(nb::init<const Chains&, Labels, Array<In>>(), arg("chains"), arg("truth"), arg("s"))
        .def("visit", &ChainSgd::visit, arg("X"), arg("pairs"), arg("cost"), arg("a").noconvert(),
             arg("edge_a").noconvert(), arg("used"), arg("lam"), arg("steps"), arg("order"), arg("first"),
             arg("seconds"), "Visits sequences from order[first] on; returns where it stopped and the steps made.")
        .def("met", &ChainSgd::met);
}

}  // namespace widemargin
