// Products of rows with a matrix W of one column per class. W is stored feature by feature, W[feature][class]: the
// weights of all classes for one feature lie side by side, so an entry of the data reads one short run of memory.
//
// Classes are taken eight at a time, their sums held in registers; the row's entries are read again for each eight,
// from the nearest cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/passes/passes.hpp"
#include "core/rows/rows.hpp"

namespace widemargin {

// W[0 .. n_features) and, where the constant feature is not zero, its weights behind them.
template <class Weight>
struct ClassWeights {
    Weight* w;
    int64_t n_features, n_classes;
    double constant;

    int64_t size() const { return (n_features + (constant != 0)) * n_classes; }
    Weight* constant_row() const { return w + n_features * n_classes; }
};

template <int Width, class Row>
void add_scores(const Row& x, const double* w, int64_t stride, double* z) {
    double s[Width] = {};
    x.for_each([&](int32_t j, double v) {
        const double* at = w + int64_t(j) * stride;
        for (int c = 0; c < Width; ++c) s[c] += v * at[c];
    });
    for (int c = 0; c < Width; ++c) z[c] += s[c];
}

template <int Width, class Row>
void add_outer(const Row& x, const double* u, double* w, int64_t stride) {
    double s[Width];
    for (int c = 0; c < Width; ++c) s[c] = u[c];
    x.for_each([&](int32_t j, double v) {
        double* at = w + int64_t(j) * stride;
        for (int c = 0; c < Width; ++c) at[c] += v * s[c];
    });
}

// Calls f.template operator()<Width>(first) for pieces of eight classes and one of what is left, so that few classes
// are read in one go.
template <class F>
void over_classes(int64_t n_classes, F&& f) {
    int64_t c = 0;
    for (; c + 8 <= n_classes; c += 8) f.template operator()<8>(c);
    switch (n_classes - c) {
        case 1:
            return f.template operator()<1>(c);
        case 2:
            return f.template operator()<2>(c);
        case 3:
            return f.template operator()<3>(c);
        case 4:
            return f.template operator()<4>(c);
        case 5:
            return f.template operator()<5>(c);
        case 6:
            return f.template operator()<6>(c);
        case 7:
            return f.template operator()<7>(c);
    }
}

// z = x W, one value per class.
template <class Row>
void row_scores(const Row& x, const ClassWeights<const double>& W, double* z) {
    for (int64_t c = 0; c < W.n_classes; ++c) z[c] = W.constant != 0 ? W.constant * W.constant_row()[c] : 0.0;
    over_classes(W.n_classes, [&]<int Width>(int64_t c) { add_scores<Width>(x, W.w + c, W.n_classes, z + c); });
}

// G += x^T u, without the constant feature.
template <class Row>
void row_outer(const Row& x, const double* u, double* G, int64_t n_classes) {
    over_classes(n_classes, [&]<int Width>(int64_t c) { add_outer<Width>(x, u + c, G + c, n_classes); });
}

// Calls body(i) for all rows, in fixed blocks.
template <class Rows, class Body>
void over_rows(const Rows& X, int n_threads, Body&& body) {
    parallel_for(count_blocks(X.n_rows), n_threads, [&](int64_t block) {
        const int64_t last = std::min((block + 1) * rows_per_block, X.n_rows);
        for (int64_t i = block * rows_per_block; i < last; ++i) body(i);
    });
}

// Z = [X s] W
template <class Rows>
void class_scores(const Rows& X, const ClassWeights<const double>& W, double* Z, int n_threads) {
    over_rows(X, n_threads, [&](int64_t i) { row_scores(X[i], W, Z + i * W.n_classes); });
}

// G += x^T u where u is zero but for a few classes, as dual variables often are: those alone are touched.
template <class Row>
void row_outer_sparse(const Row& x, const double* u, const std::vector<int64_t>& nonzero, double* G,
                      int64_t n_classes) {
    x.for_each([&](int32_t j, double v) {
        double* at = G + int64_t(j) * n_classes;
        for (const int64_t c : nonzero) at[c] += v * u[c];
    });
}

// The constant feature's part of G += [X s]^T U.
inline void add_constant_part(const double* U, int64_t n_rows, const ClassWeights<double>& G) {
    if (G.constant == 0) return;
    double* g = G.constant_row();
    for (int64_t i = 0; i < n_rows; ++i)
        for (int64_t c = 0; c < G.n_classes; ++c) g[c] += G.constant * U[i * G.n_classes + c];
}

// G += [X s]^T U; each feature is added up in row order, whatever the number of threads. Rows of zeros are not read.
template <class Rows>
void class_adjoint(const Rows& X, const double* U, const ClassWeights<double>& G, int n_threads) {
    const int64_t k = G.n_classes;
    const auto bounds = split_columns(X, n_threads <= 1 ? 1 : 2 * n_threads);
    parallel_for(int64_t(bounds.size()) - 1, n_threads, [&](int64_t piece) {
        const int32_t first = bounds[size_t(piece)], last = bounds[size_t(piece) + 1];
        std::vector<int64_t> nonzero;
        for (int64_t i = 0; i < X.n_rows; ++i) {
            const double* u = U + i * k;
            nonzero.clear();
            for (int64_t c = 0; c < k; ++c)
                if (u[c] != 0) nonzero.push_back(c);
            if (nonzero.empty()) continue;
            const auto x = X[i].between(first, last);
            if (4 * int64_t(nonzero.size()) <= k)
                row_outer_sparse(x, u, nonzero, G.w, k);
            else
                row_outer(x, u, G.w, k);
        }
    });
    add_constant_part(U, X.n_rows, G);
}

// Per row, its scores z = x W go through f(i, z, u), and G += [X s]^T U follows while the row is still in the cache.
// Returns the sum of what f returns.
template <class Rows, class F>
double class_two_sided_pass(const Rows& X, const ClassWeights<const double>& W, double* Z, double* U,
                            const ClassWeights<double>& G, int n_threads, F&& f) {
    const int64_t k = W.n_classes;
    const bool fused = n_threads <= 1;
    const double total = sum_over_blocks(X.n_rows, n_threads, [&](int64_t first, int64_t last) {
        double sum = 0;
        for (int64_t i = first; i < last; ++i) {
            const auto x = X[i];
            row_scores(x, W, Z + i * k);
            sum += f(i, Z + i * k, U + i * k);
            if (fused) row_outer(x, U + i * k, G.w, k);
        }
        return sum;
    });
    if (fused)
        add_constant_part(U, X.n_rows, G);
    else
        class_adjoint(X, U, G, n_threads);
    return total;
}

// z_i = x_i . w[model_i] + b[model_i], models stored one after another: each row meets its own model.
template <class Row>
double model_score(const Row& x, const double* models, const double* intercepts, int64_t n_features, int64_t model) {
    return x.dot(models + model * n_features) + intercepts[model];
}

// Directed acyclic graph over the pairwise models (Platt, Cristianini, Shawe-Taylor 2000): the first and the last of
// the classes that are left are compared and the loser goes, so k - 1 models are evaluated. Model (p, q), p < q, stands
// in the order (0,1), (0,2), ..., (1,2), ...; a positive value speaks for q.
template <class Rows>
void dag_classes(const Rows& X, const double* models, const double* intercepts, int64_t n_classes, int32_t* out,
                 int n_threads) {
    over_rows(X, n_threads, [&](int64_t i) {
        const auto x = X[i];
        int64_t p = 0, q = n_classes - 1;
        while (p < q) {
            const int64_t model = p * (2 * n_classes - p - 1) / 2 + (q - p - 1);
            if (model_score(x, models, intercepts, X.n_cols, model) > 0)
                ++p;
            else
                --q;
        }
        out[i] = int32_t(p);
    });
}

// D += sum_i h_ic x_ij^2: the columns' squared lengths under weights per row and class.
template <class Rows>
void class_column_sqnorms(const Rows& X, const double* H, const ClassWeights<double>& D) {
    const int64_t k = D.n_classes;
    for (int64_t i = 0; i < X.n_rows; ++i) {
        const double* h = H + i * k;
        X[i].for_each([&](int32_t j, double x) {
            double* d = D.w + int64_t(j) * k;
            for (int64_t c = 0; c < k; ++c) d[c] += x * x * h[c];
        });
    }
}

}  // namespace widemargin
