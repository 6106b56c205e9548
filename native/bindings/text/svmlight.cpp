// LIBSVM text in, arrays out, and back.
#include "core/text/svmlight.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bindings/bind.hpp"
#include "core/text/svmlight_write.hpp"

namespace widemargin {
namespace {

template <class T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Vector<T> hand_over(WrittenOnce<T>&& values) {
    auto* kept = new WrittenOnce<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<WrittenOnce<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

template <class T>
struct Read {
    Vector<T> values;
    Vector<std::int32_t> indices;
    Vector<std::int64_t> indptr;
    Vector<double> labels;
    Vector<std::int64_t> labels_indptr;
    Vector<std::int64_t> queries;
    std::int64_t lowest;
    std::int64_t highest;
};

template <class T>
Read<T> parse(Array<const std::uint8_t> text, std::int32_t base, std::int64_t lowest, std::int64_t highest,
              bool queries, bool many_labels, std::size_t n_threads, std::size_t chunk_bytes) {
    if (base < 0 || base > 1) throw std::invalid_argument("base must be 0 or 1");
    const svmlight::Options options{
        base, lowest, std::min(highest, svmlight::largest_index), queries, many_labels, n_threads, chunk_bytes};
    svmlight::Parsed<T> parsed;
    {
        const nb::gil_scoped_release released;
        const std::string_view bytes(reinterpret_cast<const char*>(text.data()), text.size());
        parsed = svmlight::parse<T>(bytes, options);
    }
    return {hand_over(std::move(parsed.values)),
            hand_over(std::move(parsed.indices)),
            hand_over(std::move(parsed.indptr)),
            many_labels ? to_numpy(std::move(parsed.many_labels)) : hand_over(std::move(parsed.labels)),
            to_numpy(std::move(parsed.many_labels_indptr)),
            hand_over(std::move(parsed.queries)),
            parsed.lowest,
            parsed.highest};
}

template <class T>
std::span<const T> view(const Array<const T>& array) {
    return {array.data(), array.size()};
}

void check_offsets(std::span<const std::int64_t> offsets, std::size_t rows, std::size_t count, const char* name) {
    const std::string prefix = std::string(name) + " ";
    if (offsets.size() != rows + 1) throw std::invalid_argument(prefix + "must have one more element than rows");
    if (offsets[0] < 0 || static_cast<std::uint64_t>(offsets[rows]) > count)
        throw std::invalid_argument(prefix + "points outside the array");
    for (std::size_t k = 0; k < rows; ++k)
        if (offsets[k] > offsets[k + 1]) throw std::invalid_argument(prefix + "must not decrease");
}

template <class T>
nb::bytes format(Array<const std::int64_t> indptr, Array<const std::int32_t> indices, Array<const T> values,
                 Array<const double> labels, Array<const std::int64_t> labels_indptr, Array<const std::int64_t> queries,
                 bool zero_based) {
    const svmlight::RowsToWrite<T> rows{view(indptr),        view(indices), view(values),      view(labels),
                                        view(labels_indptr), view(queries), zero_based ? 0 : 1};
    if (indptr.size() == 0) throw std::invalid_argument("indptr must not be empty");
    const std::size_t n_rows = indptr.size() - 1;
    if (values.size() != indices.size()) throw std::invalid_argument("indices and values differ in length");
    check_offsets(rows.indptr, n_rows, values.size(), "indptr");
    check_offsets(rows.labels_indptr, n_rows, labels.size(), "labels_indptr");
    if (queries.size() != 0 && queries.size() != n_rows)
        throw std::invalid_argument("qid must have one element per row");
    std::string text;
    {
        const nb::gil_scoped_release released;
        text = svmlight::format_rows(rows, 0, n_rows);
    }
    return nb::bytes(text.data(), text.size());
}

template <class T>
void bind_value_type(nb::module_& m, const char* class_name, const char* parse_name, const char* format_name) {
    nb::class_<Read<T>>(m, class_name, "What LIBSVM text held; labels_indptr only with several labels a row")
        .def_ro("values", &Read<T>::values, nb::rv_policy::reference)
        .def_ro("indices", &Read<T>::indices, nb::rv_policy::reference)
        .def_ro("indptr", &Read<T>::indptr, nb::rv_policy::reference)
        .def_ro("labels", &Read<T>::labels, nb::rv_policy::reference)
        .def_ro("labels_indptr", &Read<T>::labels_indptr, nb::rv_policy::reference)
        .def_ro("queries", &Read<T>::queries, nb::rv_policy::reference)
        .def_ro("lowest", &Read<T>::lowest)
        .def_ro("highest", &Read<T>::highest);
    m.def(parse_name, &parse<T>, nb::arg("text"), nb::kw_only(), nb::arg("base"), nb::arg("lowest"), nb::arg("highest"),
          nb::arg("queries"), nb::arg("many_labels"), nb::arg("n_threads"),
          nb::arg("chunk_bytes") = std::size_t{1} << 20, "LIBSVM text to arrays");
    m.def(format_name, &format<T>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("labels"),
          nb::arg("labels_indptr"), nb::arg("queries"), nb::kw_only(), nb::arg("zero_based"), "Rows to LIBSVM text");
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    bind_value_type<float>(m, "SvmlightFloat32", "parse_svmlight_float32", "format_svmlight_float32");
    bind_value_type<double>(m, "SvmlightFloat64", "parse_svmlight_float64", "format_svmlight_float64");
}

}  // namespace widemargin
