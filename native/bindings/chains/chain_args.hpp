// What the bindings of chains share: checks of their arguments, and the one dispatch on which pairs have weights.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/chains/labelings.hpp"
#include "core/chains/layout.hpp"
#include "core/chains/pair_table.hpp"

namespace widemargin {

using Labels = Array<const int32_t>;
using Order = Array<const int64_t>;

inline void check_labels(const Labels& labels, int64_t n_tokens, int64_t n_labels, int64_t least, const char* name) {
    checked(labels, n_tokens, name);
    for (size_t t = 0; t < labels.size(); ++t)
        if (labels.data()[t] < least || labels.data()[t] >= n_labels)
            throw std::invalid_argument(std::string(name) + "[" + std::to_string(t) + "] is " +
                                        std::to_string(labels.data()[t]) + ", outside " + std::to_string(least) +
                                        " .. " + std::to_string(n_labels - 1));
}

template <class T>
void check_finite(const Array<T>& values, const char* name) {
    double check = 0;
    for (size_t i = 0; i < values.size(); ++i) check += values.data()[i] * 0.0;
    if (check == 0) return;
    for (size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values.data()[i]))
            throw std::invalid_argument(std::string(name) + "[" + std::to_string(i) + "] is not finite");
}

inline void check_weights(const Array<In>& C, int64_t n_sequences) {
    checked(C, n_sequences, "C");
    for (size_t i = 0; i < C.size(); ++i)
        if (!(C.data()[i] >= 0 && std::isfinite(C.data()[i])))
            throw std::invalid_argument("C[" + std::to_string(i) +
                                        "] is no weight: it must be finite and not negative");
}

inline void check_order(const Order& order, int64_t first, int64_t n_sequences) {
    if (first < 0 || first > int64_t(order.size())) throw std::invalid_argument("first lies outside of the order");
    for (size_t i = 0; i < order.size(); ++i)
        if (order.data()[i] < 0 || order.data()[i] >= n_sequences)
            throw std::invalid_argument("order[" + std::to_string(i) + "] names no sequence");
}

inline EdgeScores checked_edges(const Chains& chains, const Array<In>& edges) {
    const bool own = int64_t(edges.size()) == chains.n_sequences() * chains.n_pairs() && chains.n_sequences() > 1;
    if (!own) checked(edges, chains.n_pairs(), "edges");
    return {edges.data(), own ? chains.n_pairs() : 0};
}

inline Costs checked_costs(const Chains& chains, const Array<In>& cost, const Labels& truth) {
    check_labels(truth, chains.n_tokens(), chains.n_labels(), 0, "y");
    if (cost.size() == 0) return {nullptr, truth.data()};
    checked(cost, chains.n_pairs(), "cost");
    check_finite(cost, "cost");
    return {cost.data(), truth.data()};
}

inline EdgeTable checked_edge_table(const Chains& chains, const Array<Out>& w, const Array<In>& used) {
    checked(w, chains.n_pairs(), "edge_w"), checked(used, chains.n_pairs(), "used");
    return {w.data(), used.data(), chains.n_pairs()};
}

// The pairs of (feature, label) that have weights: all of them, or those of a list.
struct PairList {
    std::vector<int64_t> start;
    std::vector<int32_t> labels;

    bool all() const { return start.empty(); }
};

// Calls f(rows, table) for the storage of the rows and the kind of the table.
template <class F>
void with_table(const RowStore& X, const Chains& chains, const PairList& pairs, const Array<Out>& w, F&& f) {
    if (X.n_rows() != chains.n_tokens())
        throw std::invalid_argument("X has " + std::to_string(X.n_rows()) + " rows for " +
                                    std::to_string(chains.n_tokens()) + " tokens");
    const int64_t features = pairs.all() ? X.n_cols() : int64_t(pairs.start.size()) - 1;
    if (features != X.n_cols()) throw std::invalid_argument("the list of pairs is not one of these features");
    checked(w, pairs.all() ? features * chains.n_labels() : int64_t(pairs.labels.size()), "w");
    for (const int32_t label : pairs.labels)
        if (label >= chains.n_labels())
            throw std::invalid_argument("the list of pairs has more labels than the chains");
    X.visit([&](const auto& rows) {
        if (pairs.all())
            f(rows, AllPairs{w.data(), chains.n_labels()});
        else
            f(rows, SomePairs{w.data(), chains.n_labels(), pairs.start.data(), pairs.labels.data()});
    });
}

}  // namespace widemargin
