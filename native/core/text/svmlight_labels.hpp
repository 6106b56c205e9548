// Lines of LIBSVM text to the labels that a linear model gives them. Every stretch of text is parsed, multiplied and
// written out while its rows are still in the cache, on any number of threads, with the same result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/passes/class_rows.hpp"
#include "core/text/svmlight.hpp"

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
    std::int64_t lines = 0;
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

// Memory for the rows of one stretch of text, used again for the next one.
class Scratch {
  public:
    Target<double> room_for(const Chunk& chunk) {
        const auto grow = [](auto& values, std::size_t size) {
            if (values.size() < size) values.resize(size);
        };
        grow(labels, chunk.rows), grow(indptr, chunk.rows + 1);
        grow(indices, chunk.entries), grow(values, chunk.entries);
        return {labels.data(), indptr.data() + 1, nullptr, indices.data(), values.data(), 0};
    }

    std::vector<double> labels;
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

inline Labelled label_stretch(Chunk& chunk, const char* readable, const LabelModel& model, Scratch& scratch) {
    Options options;
    options.base = model.base;
    options.lowest = model.base;
    Labelled found;
    count(chunk);
    found.lines = std::int64_t(chunk.rows);
    const Target<double> target = scratch.room_for(chunk);
    found.rows = std::int64_t(RowParser<double>(chunk.begin, chunk.end, readable, options, target).parse().rows);
    const SparseRows<double> rows{found.rows, largest_index, scratch.indptr.data(), scratch.indices.data(),
                                  scratch.values.data()};
    RowLabeller choose(model);
    for (std::int64_t i = 0; i < found.rows; ++i) {
        const std::size_t k = choose(rows[i]);
        found.text += model.words[k];
        found.correct += scratch.labels[size_t(i)] == model.labels[k];
    }
    return found;
}

// Throws std::invalid_argument, "line:column: ...", for the first line that is not right.
inline Labelled label_text(std::string_view text, const LabelModel& model, int n_threads) {
    constexpr std::size_t stretch_bytes = std::size_t{1} << 16;
    std::vector<Chunk> chunks = cut(text, stretch_bytes);
    std::vector<Labelled> found(chunks.size());
    parallel_for(int64_t(chunks.size()), n_threads, [&](int64_t i) {
        thread_local Scratch scratch;
        Chunk& chunk = chunks[size_t(i)];
        try {
            found[size_t(i)] = label_stretch(chunk, text.data() + text.size(), model, scratch);
        } catch (const Refusal& refusal) {
            chunk.refusal = refusal;
        }
    });
    for (const Chunk& chunk : chunks)
        if (chunk.refusal) throw describe(*chunk.refusal, text);
    Labelled all;
    for (const Labelled& one : found) {
        all.text += one.text;
        all.lines += one.lines;
        all.rows += one.rows;
        all.correct += one.correct;
    }
    return all;
}

}  // namespace widemargin::svmlight
