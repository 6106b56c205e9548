// Forward and backward over one sequence (Lafferty, McCallum, Pereira 2001): with scores z[t][k] of labels and
// edge[j][k] of neighbouring labels, p(y) = exp(sum_t z[t][y_t] + edge[y_t-1][y_t]) / Z.
//
// Sums are taken over probabilities that every step makes sum to one. That is exact as long as no probability can
// underflow, which the spread of the scores tells beforehand; sequences with a larger spread are summed in logarithms.
// Inner loops run over labels that lie side by side, in an order that vectors do not change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace widemargin {

// exp(-600) is far from the smallest number, whatever the number of labels.
inline constexpr double largest_spread = 600;

class Posterior {
  public:
    Posterior(int64_t n_labels, int64_t longest)
        : k_(n_labels),
          growth_(size_t(k_ * k_)),
          transposed_(size_t(k_ * k_)),
          outer_(size_t(k_ * k_)),
          alpha_(size_t(k_ * longest)),
          eb_(size_t(k_ * longest)),
          mu_(size_t(k_ * longest)),
          beta_(size_t(k_)),
          next_(size_t(k_)),
          norm_(size_t(longest)) {}

    // The scores of neighbouring labels, for the sequences that follow.
    void set_edges(const double* edge) {
        edge_ = edge;
        const auto [least, most] = std::minmax_element(edge, edge + k_ * k_);
        edge_top_ = *most, edge_spread_ = *most - *least;
        if (!std::isfinite(edge_spread_)) throw std::invalid_argument("the scores of transitions are not finite");
        for (int64_t j = 0; j < k_; ++j)
            for (int64_t k = 0; k < k_; ++k)
                transposed_[size_t(k * k_ + j)] = growth_[size_t(j * k_ + k)] = std::exp(edge[j * k_ + k] - edge_top_);
    }

    // Marginals and log Z of a sequence; `place` names its first token in errors.
    void run(const double* z, int64_t length, int64_t place) {
        z_ = z, length_ = length;
        scaled_ = edge_spread_ + spread(z, length, place) <= largest_spread;
        if (scaled_)
            forward_scaled(), backward_scaled();
        else
            forward_logs(), backward_logs();
    }

    double log_z() const { return log_z_; }
    const double* mu() const { return mu_.data(); }  // length x labels
    int64_t length() const { return length_; }

    // sum += a * the sum over positions of p(y_t-1 = j, y_t = k)
    void add_edges(double a, double* sum) {
        const int64_t n = k_ * k_;
        std::fill(outer_.begin(), outer_.end(), 0.0);
        if (!scaled_) {
            for (int64_t t = 1; t < length_; ++t)
                for (int64_t j = 0; j < k_; ++j) add_row(t, j, outer_.data() + j * k_);
            for (int64_t p = 0; p < n; ++p) sum[p] += a * outer_[size_t(p)];
            return;
        }
        for (int64_t t = 1; t < length_; ++t) {
            const double *before = alpha_.data() + (t - 1) * k_, *after = eb_.data() + t * k_;
            for (int64_t j = 0; j < k_; ++j) {
                const double p = before[j];
                double* out = outer_.data() + j * k_;
                for (int64_t k = 0; k < k_; ++k) out[k] += p * after[k];
            }
        }
        for (int64_t p = 0; p < n; ++p) sum[p] += a * outer_[size_t(p)] * growth_[size_t(p)];
    }

    // out[k] = p(y_t-1 = j, y_t = k), for t >= 1
    void row(int64_t t, int64_t j, double* out) const {
        const double *before = alpha_.data() + (t - 1) * k_, *after = eb_.data() + t * k_;
        if (scaled_) {
            const double p = before[j], *growth = growth_.data() + j * k_;
            for (int64_t k = 0; k < k_; ++k) out[k] = p * growth[k] * after[k];
        } else {
            for (int64_t k = 0; k < k_; ++k) out[k] = std::exp(before[j] + edge_[j * k_ + k] + after[k]);
        }
    }

    // The entropy; edge_sum are the sums over edges with a = 1. Scores count from the largest of their position, so
    // that large ones do not cancel. It is never negative; rounding may say so.
    double entropy(const double* edge_sum) {
        if (!scaled_) return std::max(0.0, entropy_of_steps());
        double sum = log_norms_;
        for (int64_t t = 0; t < length_; ++t) {
            const double *z = z_ + t * k_, *mu = mu_.data() + t * k_, top = *std::max_element(z, z + k_);
            for (int64_t k = 0; k < k_; ++k) sum -= mu[k] * (z[k] - top);
        }
        for (int64_t p = 0; p < k_ * k_; ++p) sum -= edge_sum[p] * (edge_[p] - edge_top_);
        return std::max(0.0, sum);
    }

  private:
    // The entropy of the first label, and of each label given the one before.
    double entropy_of_steps() {
        const auto log_or_zero = [](double p) { return p > 0 ? std::log(p) : 0.0; };
        double sum = 0;
        for (int64_t k = 0; k < k_; ++k) sum -= mu_[size_t(k)] * log_or_zero(mu_[size_t(k)]);
        for (int64_t t = 1; t < length_; ++t)
            for (int64_t j = 0; j < k_; ++j) {
                row(t, j, next_.data());
                const double before = log_or_zero(mu_[size_t((t - 1) * k_ + j)]);
                for (int64_t k = 0; k < k_; ++k) sum -= next_[size_t(k)] * (log_or_zero(next_[size_t(k)]) - before);
            }
        return sum;
    }

    // The largest spread of a position's scores. Not a number, or infinite, if a score is.
    double spread(const double* z, int64_t length, int64_t place) const {
        double widest = 0;
        for (int64_t t = 0; t < length; ++t) {
            double least = z[t * k_], most = least, check = 0;
            for (int64_t k = 0; k < k_; ++k) {
                const double value = z[t * k_ + k];
                least = std::min(least, value), most = std::max(most, value);
                check += value * 0.0;
            }
            if (check != 0 || !std::isfinite(most - least))
                throw std::invalid_argument("the scores of token " + std::to_string(place + t) + " are not finite");
            widest = std::max(widest, most - least);
        }
        return widest;
    }

    // alpha[t][k] = p(y_t = k | scores up to t); eb[t][k] = exp(z[t][k]) over the norm of the step.
    void forward_scaled() {
        log_z_ = log_norms_ = 0;
        for (int64_t t = 0; t < length_; ++t) {
            const double* z = z_ + t * k_;
            double *alpha = alpha_.data() + t * k_, *e = eb_.data() + t * k_;
            const double top = *std::max_element(z, z + k_);
            for (int64_t k = 0; k < k_; ++k) e[k] = std::exp(z[k] - top);
            if (t == 0)
                std::fill_n(alpha, k_, 1.0);
            else
                times(alpha - k_, growth_.data(), alpha);
            double sum = 0;
            for (int64_t k = 0; k < k_; ++k) sum += alpha[k] *= e[k];
            const double scale = 1 / sum;
            for (int64_t k = 0; k < k_; ++k) alpha[k] *= scale, e[k] *= scale;
            const double log_norm = std::log(sum);
            log_norms_ += log_norm;
            log_z_ += top + log_norm + (t > 0 ? edge_top_ : 0.0);
        }
    }

    // eb[t][k] becomes exp(z[t][k]) beta[t][k] over the norm.
    void backward_scaled() {
        std::fill(beta_.begin(), beta_.end(), 1.0);
        for (int64_t t = length_ - 1; t >= 0; --t) {
            double *mu = mu_.data() + t * k_, *eb = eb_.data() + t * k_;
            const double* alpha = alpha_.data() + t * k_;
            for (int64_t k = 0; k < k_; ++k) mu[k] = alpha[k] * beta_[size_t(k)], eb[k] *= beta_[size_t(k)];
            if (t > 0) times(eb, transposed_.data(), beta_.data());
        }
    }

    // out = p^T table
    void times(const double* p, const double* table, double* out) const {
        std::fill_n(out, k_, 0.0);
        for (int64_t j = 0; j < k_; ++j) {
            const double a = p[j];
            const double* row = table + j * k_;
            for (int64_t k = 0; k < k_; ++k) out[k] += a * row[k];
        }
    }

    // alpha[t][k] = log p(y_t = k | scores up to t)
    void forward_logs() {
        log_z_ = 0;
        for (int64_t t = 0; t < length_; ++t) {
            double* alpha = alpha_.data() + t * k_;
            for (int64_t k = 0; k < k_; ++k) {
                if (t > 0)
                    for (int64_t j = 0; j < k_; ++j) next_[size_t(j)] = alpha[j - k_] + edge_[j * k_ + k];
                alpha[k] = z_[t * k_ + k] + (t > 0 ? log_sum(next_.data()) : 0.0);
            }
            norm_[size_t(t)] = log_sum(alpha);
            for (int64_t k = 0; k < k_; ++k) alpha[k] -= norm_[size_t(t)];
            log_z_ += norm_[size_t(t)];
        }
    }

    // eb[t][k] = z[t][k] + log beta[t][k] less the norm
    void backward_logs() {
        std::fill(beta_.begin(), beta_.end(), 0.0);
        for (int64_t t = length_ - 1; t >= 0; --t) {
            double *eb = eb_.data() + t * k_, *alpha = alpha_.data() + t * k_;
            // Rounding must not add up over a long sequence: marginals sum to one at every position.
            for (int64_t k = 0; k < k_; ++k) next_[size_t(k)] = alpha[k] + beta_[size_t(k)];
            const double drift = log_sum(next_.data());
            for (int64_t k = 0; k < k_; ++k) {
                beta_[size_t(k)] -= drift;
                mu_[size_t(t * k_ + k)] = std::exp(alpha[k] + beta_[size_t(k)]);
                eb[k] = z_[t * k_ + k] + beta_[size_t(k)] - norm_[size_t(t)];
            }
            if (t == 0) return;
            for (int64_t j = 0; j < k_; ++j) {
                for (int64_t k = 0; k < k_; ++k) next_[size_t(k)] = edge_[j * k_ + k] + eb[k];
                beta_[size_t(j)] = log_sum(next_.data());
            }
        }
    }

    double log_sum(const double* a) const {
        const double top = *std::max_element(a, a + k_);
        double sum = 0;
        for (int64_t k = 0; k < k_; ++k) sum += std::exp(a[k] - top);
        return top + std::log(sum);
    }

    void add_row(int64_t t, int64_t j, double* out) {
        row(t, j, next_.data());
        for (int64_t k = 0; k < k_; ++k) out[k] += next_[size_t(k)];
    }

    int64_t k_, length_ = 0;
    const double *edge_ = nullptr, *z_ = nullptr;
    double edge_top_ = 0, edge_spread_ = 0, log_z_ = 0, log_norms_ = 0;
    bool scaled_ = true;
    std::vector<double> growth_, transposed_, outer_;  // exp(edge), its transpose, a sum of outer products
    std::vector<double> alpha_, eb_, mu_, beta_, next_, norm_;
};

}  // namespace widemargin
