// libFuzzer target: any bytes as a chunk of rows, in every form. The first bytes say how many rows, entries and columns
// the index claims. Beyond what the sanitizers see, it demands that what is decoded is well formed, and that encoding
// it and decoding that gives the same rows.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "core/blocks/checksum.hpp"
#include "core/blocks/chunk.hpp"

using namespace widemargin::blocks;

namespace {

void demand(bool condition) {
    if (!condition) std::abort();
}

template <class T>
void demand_round_trip(const DecodedRows<T>& rows, const Counts& counts, const std::shared_ptr<Pool>& pool) {
    const auto n = size_t(counts.rows), entries = size_t(counts.entries);
    for (size_t k = 0; k < entries; ++k) demand(rows.indices[k] >= 0 && rows.indices[k] < counts.columns);
    Bytes again;
    encode_rows<T>({{rows.indptr, n + 1}, {rows.indices, entries}, {rows.values, entries}}, again);
    Scratch scratch;
    const auto back = RowsDecoder<T>(again, counts, Form::sparse, *pool, scratch).decode();
    demand(std::memcmp(back.indptr, rows.indptr, (n + 1) * sizeof(int64_t)) == 0);
    demand(entries == 0 || std::memcmp(back.indices, rows.indices, entries * sizeof(int32_t)) == 0);
    demand(entries == 0 || std::memcmp(back.values, rows.values, entries * sizeof(T)) == 0);
}

template <class T>
void decode(View bytes, const Counts& counts) {
    const auto pool = std::make_shared<Pool>();
    for (const Form form : {Form::sparse, Form::uniform, Form::dense}) {
        Scratch scratch;
        try {
            const auto rows = RowsDecoder<T>(bytes, counts, form, *pool, scratch).decode();
            if (form == Form::sparse) demand_round_trip(rows, counts, pool);
        } catch (const std::invalid_argument&) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    const Counts counts{data[0] % 64, data[1], data[2]};
    // Memory of the exact size, so that reading one byte too far is seen.
    const auto copy = std::make_unique<uint8_t[]>(size - 3);
    std::memcpy(copy.get(), data + 3, size - 3);
    const View bytes(copy.get(), size - 3);
    XXH64::of(bytes);
    decode<float>(bytes, counts);
    decode<double>(bytes, counts);
    return 0;
}
