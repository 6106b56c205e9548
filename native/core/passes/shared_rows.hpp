// Hessian products for several terms per row that share the row's product x_i . v but differ in what is subtracted,
// such as the thresholds of ordinal regression: the expanded rows exist only as sums per row.
#pragma once

#include <cstdint>

#include "core/passes/passes.hpp"

namespace widemargin {

// q_i = x_i . v, u_i = h_i q_i - e_i and g += X^T u. Rows with h_i = 0 and e_i = 0 are not read, their q_i and u_i are
// 0.
template <class Rows>
void shared_hess_vec(const Rows& X, const double* h, const double* e, const double* v, double* q, double* u, double* g,
                     int n_threads) {
    const bool fused = n_threads <= 1;
    parallel_for(count_blocks(X.n_rows), n_threads, [&](int64_t block) {
        const int64_t last = std::min((block + 1) * rows_per_block, X.n_rows);
        for (int64_t i = block * rows_per_block; i < last; ++i) {
            q[i] = u[i] = 0;
            if (h[i] == 0 && e[i] == 0) continue;
            const auto row = X[i];
            q[i] = row.dot(v);
            u[i] = h[i] * q[i] - e[i];
            if (fused) row.axpy(u[i], g);
        }
    });
    if (!fused) rmatvec(X, u, g, n_threads);
}

}  // namespace widemargin
