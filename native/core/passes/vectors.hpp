// Inner products on one thread, in an order fixed by the length alone. BLAS would share even short vectors among all
// cores, which costs more than it gains beside a pass over sparse rows, and rounds by the number of threads.
#pragma once

#include <cstdint>

namespace widemargin {

inline double dot(const double* a, const double* b, int64_t n) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (int64_t k = 0; k < n; ++k) s += a[k] * b[k];
    return s;
}

}  // namespace widemargin
