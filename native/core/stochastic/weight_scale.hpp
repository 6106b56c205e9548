// The scale of the rows' weights, as stochastic methods need it: rows of weight zero do not count.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace widemargin {

struct WeightScale {
    double lambda;  // 1 / sum_i C_i
    double mean_C;  // of the rows that count
};

inline WeightScale weight_scale(const double* C, int64_t n) {
    double total = 0;
    int64_t counted = 0;
    for (int64_t i = 0; i < n; ++i)
        if (C[i] > 0) total += C[i], ++counted;
    if (counted == 0) throw std::invalid_argument("C is zero everywhere");
    return {1 / total, total / double(counted)};
}

}  // namespace widemargin
