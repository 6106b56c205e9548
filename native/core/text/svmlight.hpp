// LIBSVM text to arrays. The text is cut at line ends into chunks. A first pass counts what each can hold at
// most; that fixes where each chunk writes, so the chunks are parsed in place, in any order, on any number of
// threads, with one allocation and the same result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/system/parallel.hpp"
#include "core/system/written_once.hpp"
#include "core/text/svmlight_error.hpp"
#include "core/text/svmlight_rows.hpp"

namespace widemargin::svmlight {

template <class T>
struct Parsed {
    WrittenOnce<double> labels;
    WrittenOnce<std::int64_t> indptr;
    WrittenOnce<std::int32_t> indices;
    WrittenOnce<T> values;
    WrittenOnce<std::int64_t> queries;
    std::vector<double> many_labels;
    std::vector<std::int64_t> many_labels_indptr;
    std::int64_t lowest = largest_index;
    std::int64_t highest = -1;
};

struct Chunk {
    const char* begin;
    const char* end;
    std::size_t rows = 0;  // at most
    std::size_t entries = 0;
    std::size_t first_row = 0;  // where it writes
    std::size_t first_entry = 0;
    Found found = {};
    std::optional<Refusal> refusal = {};
};

inline std::vector<Chunk> cut(std::string_view text, std::size_t chunk_bytes) {
    std::vector<Chunk> chunks;
    const char* const end = text.data() + text.size();
    for (const char* begin = text.data(); begin < end;) {
        const char* stop = end;
        if (static_cast<std::size_t>(end - begin) > chunk_bytes) {
            const char* last = begin + chunk_bytes - 1;
            const void* newline = std::memchr(last, '\n', static_cast<std::size_t>(end - last));
            if (newline) stop = static_cast<const char*>(newline) + 1;
        }
        chunks.push_back({begin, stop});
        begin = stop;
    }
    return chunks;
}

// Every row takes a line, and every entry a colon. Counted 128 bytes at a time in bytes, which vectorises.
inline void count(Chunk& chunk) {
    std::size_t lines = 1, colons = 0;
    for (const char* p = chunk.begin; p < chunk.end;) {
        const char* stop = chunk.end - p > 128 ? p + 128 : chunk.end;
        std::uint8_t some_lines = 0, some_colons = 0;
        for (; p < stop; ++p) {
            some_lines = static_cast<std::uint8_t>(some_lines + (*p == '\n'));
            some_colons = static_cast<std::uint8_t>(some_colons + (*p == ':'));
        }
        lines += some_lines;
        colons += some_colons;
    }
    chunk.rows = lines - (chunk.begin < chunk.end && chunk.end[-1] == '\n');
    chunk.entries = colons;
}

template <class T>
void parse_chunk(Chunk& chunk, std::string_view text, const Options& options, Parsed<T>& parsed) {
    parsed.indices.expect(chunk.first_entry, chunk.first_entry + chunk.entries);
    parsed.values.expect(chunk.first_entry, chunk.first_entry + chunk.entries);
    const Target<T> target{parsed.labels.data() + (options.many_labels ? 0 : chunk.first_row),
                           parsed.indptr.data() + 1 + chunk.first_row,
                           parsed.queries.data() + (options.queries ? chunk.first_row : 0),
                           parsed.indices.data() + chunk.first_entry,
                           parsed.values.data() + chunk.first_entry,
                           static_cast<std::int64_t>(chunk.first_entry)};
    try {
        chunk.found = RowParser<T>(chunk.begin, chunk.end, text.data() + text.size(), options, target).parse();
    } catch (const Refusal& refusal) {
        chunk.refusal = refusal;
    }
}

template <class U>
void move_down(WrittenOnce<U>& block, std::size_t from, std::size_t to, std::size_t count) {
    if (from != to && count) std::memmove(block.data() + to, block.data() + from, count * sizeof(U));
}

// Blank lines, comments and qid make the bounds too wide: closes the gaps between the chunks.
template <class T>
void close_gaps(std::vector<Chunk>& chunks, const Options& options, Parsed<T>& parsed) {
    std::size_t rows = 0, entries = 0;
    for (auto& chunk : chunks) {
        const Found& found = chunk.found;
        move_down(parsed.indices, chunk.first_entry, entries, found.entries);
        move_down(parsed.values, chunk.first_entry, entries, found.entries);
        if (!options.many_labels) move_down(parsed.labels, chunk.first_row, rows, found.rows);
        if (options.queries) move_down(parsed.queries, chunk.first_row, rows, found.rows);
        if (chunk.first_row != rows || chunk.first_entry != entries) {
            const auto shift = static_cast<std::int64_t>(chunk.first_entry - entries);
            for (std::size_t k = 1; k <= found.rows; ++k)
                parsed.indptr.data()[rows + k] = parsed.indptr.data()[chunk.first_row + k] - shift;
        }
        rows += found.rows;
        entries += found.entries;
    }
    parsed.indices.shrink(entries);
    parsed.values.shrink(entries);
    parsed.indptr.shrink(rows + 1);
    if (!options.many_labels) parsed.labels.shrink(rows);
    if (options.queries) parsed.queries.shrink(rows);
}

template <class T>
void gather(std::vector<Chunk>& chunks, Parsed<T>& parsed) {
    parsed.many_labels_indptr.push_back(0);
    for (const auto& chunk : chunks) {
        const auto before = static_cast<std::int64_t>(parsed.many_labels.size());
        const Found& found = chunk.found;
        parsed.many_labels.insert(parsed.many_labels.end(), found.many_labels.begin(), found.many_labels.end());
        for (const auto end : found.many_labels_ends) parsed.many_labels_indptr.push_back(before + end);
        parsed.lowest = std::min(parsed.lowest, found.lowest);
        parsed.highest = std::max(parsed.highest, found.highest);
    }
}

// Throws std::invalid_argument, "line:column: ...", for the first line that is not right.
template <class T>
Parsed<T> parse(std::string_view text, const Options& options) {
    std::vector<Chunk> chunks = cut(text, std::max<std::size_t>(options.chunk_bytes, 1));
    const auto n_chunks = int64_t(chunks.size());
    const auto n_threads = int(options.n_threads);
    parallel_for(n_chunks, n_threads, [&](int64_t i) { count(chunks[size_t(i)]); });
    std::size_t rows = 0, entries = 0;
    for (auto& chunk : chunks) {
        chunk.first_row = rows;
        chunk.first_entry = entries;
        rows += chunk.rows;
        entries += chunk.entries;
    }
    Parsed<T> parsed;
    parsed.labels = WrittenOnce<double>(options.many_labels ? 0 : rows);
    parsed.indptr = WrittenOnce<std::int64_t>(rows + 1);
    parsed.indices = WrittenOnce<std::int32_t>(entries);
    parsed.values = WrittenOnce<T>(entries);
    parsed.queries = WrittenOnce<std::int64_t>(options.queries ? rows : 0);
    parsed.indptr.data()[0] = 0;
    parallel_for(n_chunks, n_threads, [&](int64_t i) { parse_chunk(chunks[size_t(i)], text, options, parsed); });
    for (const auto& chunk : chunks)
        if (chunk.refusal) throw describe(*chunk.refusal, text);
    close_gaps(chunks, options, parsed);
    gather(chunks, parsed);
    return parsed;
}

}  // namespace widemargin::svmlight
