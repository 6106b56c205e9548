// One stretch of LIBSVM text, whole lines, to the rows it holds:
//
//     line   = [label [qid:N] {index:value}] [# comment]      blanks (space, tab, CR) between the parts
//     label  = number, or with several labels: nothing, or number {,number}
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/text/svmlight_error.hpp"
#include "core/text/svmlight_number.hpp"

namespace widemargin::svmlight {

inline constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

struct Options {
    std::int32_t base = 1;  // stored index = index in the text - base
    std::int64_t lowest = 0;
    std::int64_t highest = largest_index;  // indices of the text, inclusive
    bool queries = false;
    bool many_labels = false;
    std::size_t n_threads = 1;
    std::size_t chunk_bytes = std::size_t{1} << 20;
};

// Where a stretch of text puts its rows: memory for as many as it can hold. row_ends count from
// `entries_before`.
template <class T>
struct Target {
    double* labels;
    std::int64_t* row_ends;
    std::int64_t* queries;
    std::int32_t* indices;
    T* values;
    std::int64_t entries_before;
};

// What a stretch of text turned out to hold.
struct Found {
    std::size_t rows = 0;
    std::size_t entries = 0;
    std::int64_t lowest = largest_index;
    std::int64_t highest = -1;
    std::vector<double> many_labels;
    std::vector<std::int64_t> many_labels_ends;
};

template <class T>
class RowParser {
  public:
    // [begin, end) is read; bytes up to `readable` may be looked at.
    RowParser(const char* begin, const char* end, const char* readable, const Options& options, Target<T> target)
        : p_(begin), end_(end), readable_(readable), options_(options), target_(target) {}

    Found parse() {
        while (p_ < end_) {
            skip_blanks();
            if (!at_line_end()) parse_row();
            skip_line();
        }
        return std::move(found_);
    }

  private:
    void skip_blanks() {
        while (p_ < end_ && is_blank(*p_)) ++p_;
    }

    bool at_line_end() const { return p_ == end_ || *p_ == '\n' || *p_ == '#'; }

    void skip_line() {
        if (p_ < end_ && *p_ == '\n') {
            ++p_;
            return;
        }
        const void* newline = std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_));
        p_ = newline ? static_cast<const char*>(newline) + 1 : end_;
    }

    bool token_ends(const char* p) const { return p == end_ || ends_token(*p); }

    void parse_row() {
        options_.many_labels ? parse_many_labels() : parse_label();
        skip_blanks();
        parse_query();
        parse_entries();
        target_.row_ends[found_.rows++] = target_.entries_before + static_cast<std::int64_t>(found_.entries);
    }

    void parse_label() {
        const char* stop = read_number(p_, end_, target_.labels[found_.rows]);
        if (!stop || !token_ends(stop)) throw Refusal{label_fault(stop), p_};
        p_ = stop;
    }

    Fault label_fault(const char* stop) const {
        if (stop && *stop == ',') return Fault::several_labels;
        return stop && *stop == ':' ? Fault::missing_label : Fault::label;
    }

    bool at_query() const { return end_ - p_ >= 4 && std::memcmp(p_, "qid:", 4) == 0; }

    bool at_entry() const {
        const char* stop = std::find_if(p_, end_, [](char c) { return ends_token(c) || c == ':'; });
        return stop < end_ && *stop == ':';
    }

    void parse_many_labels() {
        bool more = !at_query() && !at_entry();
        while (more) {
            double label = 0;
            const char* stop = read_number(p_, end_, label);
            more = stop && stop < end_ && *stop == ',';
            if (!stop || !(more || token_ends(stop))) throw Refusal{Fault::label, p_};
            found_.many_labels.push_back(label);
            p_ = stop + more;
        }
        found_.many_labels_ends.push_back(static_cast<std::int64_t>(found_.many_labels.size()));
    }

    void parse_query();
    void parse_entries();
    const char* read_entry(const char* p, std::int64_t& index, T& value) const;
    void finish_entries(const char* text, std::size_t first, bool ascending);
    void sort_entries(std::size_t first);
    [[noreturn]] void refuse_row(const char* text) const;

    const char* p_;
    const char* const end_;
    const char* const readable_;
    const Options& options_;
    const Target<T> target_;
    Found found_;
    std::vector<std::pair<std::int32_t, T>> sorting_;
};

template <class T>
void RowParser<T>::parse_query() {
    if (!at_query()) {
        if (options_.queries) throw Refusal{Fault::missing_query, p_};
        return;
    }
    std::int64_t query = 0;
    const auto [stop, error] = std::from_chars(p_ + 4, end_, query);
    if (error != std::errc{} || !token_ends(stop)) throw Refusal{Fault::query, p_};
    if (options_.queries) target_.queries[found_.rows] = query;
    p_ = stop;
}

template <class T>
void RowParser<T>::parse_entries() {
    const char* const text = p_;
    const std::size_t first = found_.entries;
    std::int32_t* indices = target_.indices + first;
    T* values = target_.values + first;
    std::int32_t previous = -1;
    bool ascending = true;
    for (const char* p = p_;;) {
        while (p < end_ && is_blank(*p)) ++p;
        std::int32_t index;
        const char* stop = readable_ - p >= window ? read_entry_fast(p, index, *values) : nullptr;
        if (!stop) {
            if (p == end_ || *p == '\n' || *p == '#') {
                p_ = p;
                break;
            }
            std::int64_t any_index;
            stop = read_entry(p, any_index, *values);
            index = static_cast<std::int32_t>(any_index);
        }
        p = stop;
        ascending &= index > previous;
        previous = index;
        *indices++ = index - options_.base;
        ++values;
    }
    found_.entries = static_cast<std::size_t>(indices - target_.indices);
    if (found_.entries != first) finish_entries(text, first, ascending);
}

// The slow path: any index, any number, any length, up to the last byte.
template <class T>
const char* RowParser<T>::read_entry(const char* p, std::int64_t& index, T& value) const {
    const char* q = p;
    index = 0;
    for (; q < end_ && is_digit(*q); ++q)
        if (index <= largest_index) index = index * 10 + (*q - '0');
    if (q == p || q == end_ || *q != ':') throw Refusal{Fault::entry, p};
    if (index > largest_index) throw Refusal{Fault::index_too_large, p};
    const char* stop = read_number(q + 1, end_, value);
    if (!stop || !token_ends(stop)) throw Refusal{Fault::value, q + 1};
    return stop;
}

// What needs a look at the row as a whole: its order, and the smallest and largest index.
template <class T>
void RowParser<T>::finish_entries(const char* text, std::size_t first, bool ascending) {
    if (!ascending) sort_entries(first);
    const std::int32_t* begin = target_.indices + first;
    const std::int32_t* end = target_.indices + found_.entries;
    const std::int64_t lowest = std::int64_t{*begin} + options_.base;
    const std::int64_t highest = std::int64_t{end[-1]} + options_.base;
    const bool repeated = !ascending && std::adjacent_find(begin, end) != end;
    if (repeated || lowest < options_.lowest || highest > options_.highest) refuse_row(text);
    found_.lowest = std::min(found_.lowest, lowest);
    found_.highest = std::max(found_.highest, highest);
}

template <class T>
void RowParser<T>::sort_entries(std::size_t first) {
    sorting_.clear();
    for (std::size_t k = first; k < found_.entries; ++k) sorting_.emplace_back(target_.indices[k], target_.values[k]);
    std::sort(sorting_.begin(), sorting_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [index, value] : sorting_) {
        target_.indices[first] = index;
        target_.values[first++] = value;
    }
}

// Reads a row that is to be refused once more, for the place of its first wrong index.
template <class T>
void RowParser<T>::refuse_row(const char* text) const {
    std::vector<std::pair<std::int64_t, const char*>> seen;
    Refusal first{Fault::repeated_index, p_};
    for (const char* p = text;;) {
        while (p < p_ && is_blank(*p)) ++p;
        if (p == p_) break;
        std::int64_t index;
        T value;
        const char* stop = read_entry(p, index, value);
        if (index < options_.lowest || index > options_.highest) {
            first = {index < options_.lowest ? Fault::index_zero : Fault::index_beyond, p};
            break;
        }
        seen.emplace_back(index, p);
        p = stop;
    }
    std::sort(seen.begin(), seen.end());
    for (std::size_t k = 1; k < seen.size(); ++k)
        if (seen[k].first == seen[k - 1].first && seen[k].second < first.at)
            first = {Fault::repeated_index, seen[k].second};
    throw first;
}

}  // namespace widemargin::svmlight
