// The rows on which first learning rates are tried: the same for every rate, so that nothing but the rate decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/descent/order.hpp"

namespace widemargin {

// Draws n rows into `kept` the first time it is asked, in the order of a pass.
inline const std::vector<uint32_t>& trial_rows(std::vector<uint32_t>& kept, Order& order, int64_t n) {
    if (kept.empty()) {
        kept = order.next_pass();
        kept.resize(size_t(std::clamp<int64_t>(n, 1, int64_t(kept.size()))));
    }
    return kept;
}

}  // namespace widemargin
