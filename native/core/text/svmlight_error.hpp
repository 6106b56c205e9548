// What can be wrong with LIBSVM text, and how to say it: line, column, what was read, what was expected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/text/svmlight_number.hpp"

namespace widemargin::svmlight {

enum class Fault {
    label,
    missing_label,
    several_labels,
    query,
    missing_query,
    entry,
    index_too_large,
    value,
    repeated_index,
    index_zero,
    index_beyond
};

// Thrown inside the parser; `at` points into the text.
struct Refusal {
    Fault fault;
    const char* at;
};

inline std::string_view expectation(Fault fault) {
    switch (fault) {
        case Fault::label:
            return "expected a label, a finite number";
        case Fault::missing_label:
            return "expected a label before the first index:value (multilabel=True accepts lines without "
                   "one)";
        case Fault::several_labels:
            return "expected one label (multilabel=True accepts several, separated by commas)";
        case Fault::query:
            return "expected qid: and an integer of at most 64 bits";
        case Fault::missing_query:
            return "expected qid:N after the label, because qid=True";
        case Fault::entry:
            return "expected index:value, the index a whole number";
        case Fault::index_too_large:
            return "expected an index of at most 2147483646";
        case Fault::value:
            return "expected a finite number after the colon";
        case Fault::repeated_index:
            return "expected each index once in a row, and this one is repeated";
        case Fault::index_zero:
            return "expected indices from 1 on, because zero_based=False";
        case Fault::index_beyond:
            return "expected an index within n_features";
    }
    return "malformed text";
}

// The token at `at`, made safe to print and cut to a readable length.
inline std::string quoted_token(const char* at, const char* end) {
    constexpr std::ptrdiff_t longest = 32;
    const char* stop = std::find_if(at, end, ends_token);
    if (at == stop) return at == end || *at != '#' ? "the end of the line" : "a comment";
    std::string text = "'";
    for (const char* p = at; p < stop && p - at < longest; ++p) {
        if (*p >= ' ' && *p <= '~') {
            text += *p;
        } else {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(*p)));
            text += escaped;
        }
    }
    return text + (stop - at > longest ? "...'" : "'");
}

// "line:column: read 'this', expected that", both counted from 1, the column in bytes.
inline std::invalid_argument describe(const Refusal& refusal, std::string_view text) {
    const char* begin = text.data();
    const auto line = std::count(begin, refusal.at, '\n') + 1;
    const char* start = refusal.at;
    while (start > begin && start[-1] != '\n') --start;
    return std::invalid_argument(std::to_string(line) + ":" + std::to_string(refusal.at - start + 1) + ": read " +
                                 quoted_token(refusal.at, begin + text.size()) + ", " +
                                 std::string(expectation(refusal.fault)));
}

}  // namespace widemargin::svmlight
