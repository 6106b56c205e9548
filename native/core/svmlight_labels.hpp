// Lines of LIBSVM text to the labels that a linear model gives them. Every stretch of text is parsed, multiplied and
// written out while its rows are still in the cache, on any number of threads, with the same result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/class_rows.hpp"
#include "core/svmlight.hpp"

namespace widemargin::svmlight {

// One score: words[1] above zero, else words[0]. More: the word of the highest, the first of equals.
struct LabelModel {
    std::vector<double> weights;  // feature by feature, n_scores each; the intercepts come last
    std::int64_t n_features = 0;
    std::int64_t n_scores = 1;
    std::vector<std::string> words;  // what is written for each label, with its line end
    std::vector<double> labels;      // as numbers, NaN for a label that is none
    std::int32_t base = 1;
};

struct Labelled {
    std::string text;
    std::int64_t rows = 0;
    std::int64_t correct = 0;  // rows whose own label was found
};

class RowLabeller {
  public:
    explicit RowLabeller(const LabelModel& model)
        : model_(model),
          weights_{model.weights.data(), model.n_features, model.n_scores, 1.0},
          scores_(size_t(model.n_scores)) {}

    template <class Row>
    std::size_t operator()(const Row& row) {
        // Features beyond the model's are left out.
        const auto known = row.between(0, std::int32_t(model_.n_features));
        if (model_.n_scores == 1) return known.dot(weights_.w) + *weights_.constant_row() > 0;
        row_scores(known, weights_, scores_.data());
        return std::size_t(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
    }

  private:
    const LabelModel& model_;
    ClassWeights<const double> weights_;
    std::vector<double> scores_;
};

inline Labelled label_stretch(std::string_view text, const LabelModel& model) {
    Options options;
    options.base = options.lowest = model.base;
    const Parsed<double> parsed = parse<double>(text, options);
    const auto n_rows = std::int64_t(parsed.indptr.size()) - 1;
    const SparseRows<double> rows{n_rows, largest_index, parsed.indptr.data(), parsed.indices.data(),
                                  parsed.values.data()};
    Labelled found;
    found.rows = n_rows;
    RowLabeller choose(model);
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::size_t k = choose(rows[i]);
        found.text += model.words[k];
        found.correct += parsed.labels.data()[i] == model.labels[k];
    }
    return found;
}

// Throws std::invalid_argument, "line:column: ...", for the first line that is not right.
inline Labelled label_text(std::string_view text, const LabelModel& model, int n_threads) {
    constexpr std::size_t stretch_bytes = std::size_t{1} << 18;
    const std::vector<Chunk> chunks = cut(text, stretch_bytes);
    std::vector<Labelled> found(chunks.size());
    std::vector<char> refused(chunks.size(), 0);
    parallel_for(int64_t(chunks.size()), n_threads, [&](int64_t i) {
        const Chunk& chunk = chunks[size_t(i)];
        try {
            found[size_t(i)] = label_stretch({chunk.begin, std::size_t(chunk.end - chunk.begin)}, model);
        } catch (const std::invalid_argument&) {
            refused[size_t(i)] = 1;
        }
    });
    if (std::find(refused.begin(), refused.end(), 1) != refused.end()) {
        Options options;  // once more as a whole, to say where
        options.base = options.lowest = model.base;
        parse<double>(text, options);
    }
    Labelled all;
    for (const Labelled& one : found) {
        all.text += one.text;
        all.rows += one.rows;
        all.correct += one.correct;
    }
    return all;
}

}  // namespace widemargin::svmlight
