// The minimiser of 1/2 (t - a)^2 + by |t|: a, moved towards zero by `by`.
#pragma once

namespace widemargin {

inline double soft_threshold(double a, double by) {
    return a > by ? a - by : a < -by ? a + by : 0.0;
}

}  // namespace widemargin
