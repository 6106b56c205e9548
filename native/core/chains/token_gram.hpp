// The inner products of the tokens of each sequence with one another: length x length, sequence after sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "core/chains/layout.hpp"

namespace widemargin {

// A sequence's row of products is read from a dense copy of one token, so a pair costs the entries of the other.
template <class Rows>
void token_gram(const Rows& X, const Chains& chains, const int64_t* starts, float* gram, int n_threads) {
    chains.over_pieces(n_threads, [&](int64_t, int64_t first, int64_t last) {
        std::vector<double> dense(size_t(X.n_cols));
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = chains.begin(i), n = chains.length(i);
            float* G = gram + starts[i];
            for (int64_t s = 0; s < n; ++s) {
                X[begin + s].for_each([&](int32_t j, double v) { dense[size_t(j)] += v; });
                for (int64_t t = 0; t <= s; ++t) G[s * n + t] = G[t * n + s] = float(X[begin + t].dot(dense.data()));
                X[begin + s].for_each([&](int32_t j, double) { dense[size_t(j)] = 0; });
            }
        }
    });
}

}  // namespace widemargin
