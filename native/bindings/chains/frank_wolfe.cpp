// Block-coordinate Frank-Wolfe steps with known labelings.
#include "core/chains/frank_wolfe.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/chains/chain_args.hpp"

namespace widemargin {
namespace {

// The labelings, with what they were made for.
class FrankWolfe {
  public:
    FrankWolfe(const Chains& chains, Labels truth) : chains_(chains), known_(checked_known(chains, truth)) {}

    std::tuple<int64_t, double, double> visit(const RowStore& X, const PairList& pairs, Array<In> C, Array<In> cost,
                                              Labels truth, Array<Out> w, Array<Out> edge_w, Array<In> used,
                                              Array<const float> gram, Array<In> sqnorms, bool viterbi,
                                              int64_t most_steps, Order order, int64_t first, double seconds) {
        const int64_t n = chains_.n_sequences();
        check_weights(C, n), check_order(order, first, n), checked(sqnorms, chains_.n_tokens(), "sqnorms");
        if (cost.size() == 0) throw std::invalid_argument("the cost is empty");
        const Costs costs = checked_costs(chains_, cost, truth);
        const EdgeTable edges = checked_edge_table(chains_, edge_w, used);
        std::vector<int64_t> starts{0};
        for (int64_t i = 0; i < n; ++i) starts.push_back(starts.back() + chains_.length(i) * chains_.length(i));
        if (gram.size() > 0) checked(gram, starts.back(), "gram");
        const bool follows = gram.size() > 0 && pairs.all();
        const FrankWolfePlan plan{viterbi,        follows ? most_steps : 1,
                                  starts.data(),  gram.size() ? gram.data() : nullptr,
                                  sqnorms.data(), follows};
        FrankWolfeLook look;
        nb::gil_scoped_release release;
        with_table(X, chains_, pairs, w, [&](const auto& rows, const auto& table) {
            look = FrankWolfePass(rows, chains_, C.data(), costs, table, edges, known_, plan)
                       .run(order.data(), first, int64_t(order.size()), seconds);
        });
        return {look.next, look.gained, look.gap};
    }

    // The labelings in use: the sequence of each, its share, and its labels one after another.
    nb::tuple mixture() const {
        std::vector<int64_t> owner;
        std::vector<double> share;
        std::vector<int32_t> labels;
        for (int64_t i = 0; i < chains_.n_sequences(); ++i)
            for (const auto& y : known_.of(i)) {
                if (y.share == 0) continue;
                owner.push_back(i), share.push_back(y.share);
                labels.insert(labels.end(), y.labels.begin(), y.labels.end());
            }
        return nb::make_tuple(to_numpy(std::move(owner)), to_numpy(std::move(share)), to_numpy(std::move(labels)));
    }

    // The labelings of such a mixture, in place of those that are known; `cost` tells what each costs.
    void adopt(Array<const int64_t> owner, Array<In> share, Labels labels, Array<In> cost) {
        checked(share, int64_t(owner.size()), "share"), checked(cost, int64_t(owner.size()), "cost");
        int64_t needed = 0, at = 0;
        for (size_t a = 0; a < owner.size(); ++a) {
            if (owner.data()[a] < 0 || owner.data()[a] >= chains_.n_sequences())
                throw std::invalid_argument("owner names no sequence");
            needed += chains_.length(owner.data()[a]);
        }
        check_labels(labels, needed, chains_.n_labels(), 0, "labels");
        for (int64_t i = 0; i < chains_.n_sequences(); ++i)
            for (auto& y : known_.of(i)) y.share = 0;
        for (size_t a = 0; a < owner.size(); ++a) {
            const int64_t i = owner.data()[a], n = chains_.length(i);
            known_.of(i).push_back({{labels.data() + at, labels.data() + at + n}, share.data()[a], cost.data()[a]});
            at += n;
        }
    }

  private:
    static KnownLabelings checked_known(const Chains& chains, const Labels& truth) {
        check_labels(truth, chains.n_tokens(), chains.n_labels(), 0, "y");
        return {chains, truth.data()};
    }

    Chains chains_;
    KnownLabelings known_;
};

}  // namespace

void bind_frank_wolfe(nb::module_& m) {
    using nb::arg;
    nb::class_<FrankWolfe>(m, "FrankWolfe", "The labelings that Frank-Wolfe steps have met, and the steps.")
        .def(nb::init<const Chains&, Labels>(), arg("chains"), arg("truth"))
        .def("visit", &FrankWolfe::visit, arg("X"), arg("pairs"), arg("C"), arg("cost"), arg("truth"),
             arg("w").noconvert(), arg("edge_w").noconvert(), arg("used"), arg("gram"), arg("sqnorms"), arg("viterbi"),
             arg("most_steps"), arg("order"), arg("first"), arg("seconds"),
             "Visits sequences from order[first] on; returns where it stopped, what the dual gained, and the gap.")
        .def("mixture", &FrankWolfe::mixture)
        .def("adopt", &FrankWolfe::adopt, arg("owner"), arg("share"), arg("labels"), arg("cost"));
}

}  // namespace widemargin
