// A model that labels lines of LIBSVM text, for predictions without NumPy.
#include "core/text/svmlight_labels.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "bindings/bind.hpp"

namespace widemargin {
namespace {

using svmlight::LabelModel;

LabelModel make_model(Array<const double> weights, Array<const double> intercepts, std::int64_t n_features,
                      bool by_feature, std::vector<std::string> words, std::vector<double> labels, bool zero_based) {
    const auto n_scores = std::int64_t(intercepts.size());
    if (n_features < 0 || n_features > svmlight::largest_index || n_scores < 1 || n_scores > (std::int64_t{1} << 31) ||
        std::int64_t(weights.size()) != n_features * n_scores)
        throw std::invalid_argument("weights, intercepts and n_features do not agree");
    if (words.size() != labels.size() || words.size() != size_t(std::max<std::int64_t>(n_scores, 2)))
        throw std::invalid_argument("there must be one word and one label per class");
    LabelModel model{{}, n_features, n_scores, std::move(words), std::move(labels), zero_based ? 0 : 1};
    model.weights.resize(weights.size() + intercepts.size());
    for (std::int64_t j = 0; j < n_features; ++j)
        for (std::int64_t k = 0; k < n_scores; ++k)
            model.weights[size_t(j * n_scores + k)] =
                weights.data()[by_feature ? j * n_scores + k : k * n_features + j];
    std::copy_n(intercepts.data(), intercepts.size(), model.weights.end() - n_scores);
    for (const double w : model.weights)
        if (!std::isfinite(w)) throw std::invalid_argument("a weight is not finite");
    return model;
}

nb::tuple label(const LabelModel& model, Array<const std::uint8_t> text, int n_threads) {
    svmlight::Labelled found;
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    {
        const nb::gil_scoped_release released;
        found = svmlight::label_text(view, model, n_threads);
    }
    return nb::make_tuple(nb::bytes(found.text.data(), found.text.size()), found.lines, found.rows, found.correct);
}

}  // namespace

void bind_svmlight_labels(nb::module_& m) {
    using nb::arg;
    nb::class_<LabelModel>(m, "SvmlightLabeller", "A linear model that labels lines of LIBSVM text")
        .def(
            "label", &label, arg("text"), arg("n_threads") = 1,
            "Whole lines to the lines of their labels; how many lines there were, how many rows, and how many of those "
            "had that label");
    m.def("svmlight_labeller", &make_model, arg("weights"), arg("intercepts"), nb::kw_only(), arg("n_features"),
          arg("by_feature"), arg("words"), arg("labels"), arg("zero_based"));
}

}  // namespace widemargin
