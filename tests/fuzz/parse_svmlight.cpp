// libFuzzer target: any bytes, any options. Beyond what the sanitizers see, it demands that the result does
// not depend on chunks and threads, that it is well formed, and that what is written reads back the same.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/svmlight.hpp"
#include "core/text/svmlight_write.hpp"

using namespace widemargin::svmlight;

namespace {

void demand(bool condition) {
    if (!condition) std::abort();
}

template <class T>
struct Outcome {
    std::string refusal;
    Parsed<T> parsed;
};

// The text is copied to memory of its exact size, so that reading one byte too far is seen.
template <class T>
Outcome<T> outcome(std::string_view text, const Options& options) {
    const auto copy = std::make_unique<char[]>(text.size());
    std::copy(text.begin(), text.end(), copy.get());
    try {
        return {"", parse<T>({copy.get(), text.size()}, options)};
    } catch (const std::invalid_argument& refusal) {
        return {refusal.what(), {}};
    }
}

template <class U>
bool same(const widemargin::WrittenOnce<U>& a, const widemargin::WrittenOnce<U>& b) {
    return a.size() == b.size() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(U)) == 0);
}

template <class T>
void demand_same(const Outcome<T>& a, const Outcome<T>& b) {
    demand(a.refusal == b.refusal);
    demand(same(a.parsed.labels, b.parsed.labels) && same(a.parsed.indptr, b.parsed.indptr));
    demand(same(a.parsed.indices, b.parsed.indices) && same(a.parsed.values, b.parsed.values));
    demand(same(a.parsed.queries, b.parsed.queries) && a.parsed.many_labels == b.parsed.many_labels);
    demand(a.parsed.many_labels_indptr == b.parsed.many_labels_indptr);
}

template <class T>
void demand_well_formed(const Parsed<T>& parsed, const Options& options) {
    const std::int64_t* indptr = parsed.indptr.data();
    const std::size_t rows = parsed.indptr.size() - 1;
    demand(indptr[0] == 0 && indptr[rows] == static_cast<std::int64_t>(parsed.values.size()));
    for (std::size_t row = 0; row < rows; ++row) {
        demand(indptr[row] <= indptr[row + 1]);
        for (auto k = indptr[row]; k < indptr[row + 1]; ++k) {
            const std::int64_t index = std::int64_t{parsed.indices.data()[k]} + options.base;
            demand(index >= options.lowest && index <= options.highest);
            demand(k == indptr[row] || parsed.indices.data()[k - 1] < parsed.indices.data()[k]);
            demand(parsed.values.data()[k] - parsed.values.data()[k] == 0);
        }
    }
}

template <class T>
void demand_round_trip(const Parsed<T>& parsed, Options options) {
    const std::size_t rows = parsed.indptr.size() - 1;
    std::vector<std::int64_t> one_each(rows + 1);
    for (std::size_t row = 0; row <= rows; ++row) one_each[row] = static_cast<std::int64_t>(row);
    const RowsToWrite<T> written{{parsed.indptr.data(), rows + 1},
                                 {parsed.indices.data(), parsed.indices.size()},
                                 {parsed.values.data(), parsed.values.size()},
                                 {parsed.labels.data(), rows},
                                 one_each,
                                 {parsed.queries.data(), parsed.queries.size()},
                                 options.base};
    const Outcome<T> again = outcome<T>(format_rows(written, 0, rows), options);
    demand(again.refusal.empty() && same(again.parsed.labels, parsed.labels));
    demand(same(again.parsed.indptr, parsed.indptr) && same(again.parsed.indices, parsed.indices));
    demand(same(again.parsed.values, parsed.values) && same(again.parsed.queries, parsed.queries));
}

template <class T>
void check(std::string_view text, Options options, std::size_t chunk_bytes) {
    const Outcome<T> whole = outcome<T>(text, options);
    if (whole.refusal.empty()) {
        demand_well_formed(whole.parsed, options);
        if (!options.many_labels) demand_round_trip(whole.parsed, options);
    }
    options.chunk_bytes = chunk_bytes;
    demand_same(whole, outcome<T>(text, options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::uint8_t flags = data[0];
    const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
    Options options;
    options.base = flags & 1;
    options.lowest = flags & 2 ? 1 : 0;
    if (flags & 4) options.highest = 1000;
    options.queries = flags & 8;
    options.many_labels = flags & 16;
    options.n_threads = flags & 32 && data[1] == 1 ? 2 : 1;  // seldom: a thread costs more than a parse
    flags & 64 ? check<float>(text, options, data[1]) : check<double>(text, options, data[1]);
    return 0;
}
