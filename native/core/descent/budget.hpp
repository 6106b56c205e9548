// How far one call of passes may go.
#pragma once

#include <cstdint>

namespace widemargin {

struct Budget {
    double relative_gap;  // stop when `trust` times the estimated gap falls below this share of the objective
    double trust;
    int64_t max_passes;
    double max_seconds;
};

}  // namespace widemargin
