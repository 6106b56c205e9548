// A run of bytes as it lies in a chunk: as it is, one byte repeated, or compressed by LZ4 where that pays.
//
//     kind, number of bytes stored (64 bits), the bytes
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/blocks/bytes.hpp"
#include "third_party/lz4/lz4.h"

namespace widemargin::blocks {

enum class Packing : uint8_t { as_it_is, one_byte, lz4 };

// Compressed bytes take time to undo: they must be so much fewer.
inline constexpr double worth_compressing = 0.65;
// LZ4 counts in int.
inline constexpr size_t most_packed = LZ4_MAX_INPUT_SIZE;

inline void put_packed(Bytes& out, Packing kind, View stored) {
    put(out, kind);
    put(out, uint64_t(stored.size()));
    put_all(out, stored);
}

inline void pack(Bytes& out, View bytes) {
    if (bytes.size() > most_packed) damaged("a chunk is larger than LZ4 can take");
    const auto differs = [&](uint8_t byte) { return byte != bytes.front(); };
    if (!bytes.empty() && std::none_of(bytes.begin(), bytes.end(), differs))
        return put_packed(out, Packing::one_byte, bytes.first(1));
    // No room beyond what would pay: LZ4 gives up early.
    Bytes room(size_t(worth_compressing * double(bytes.size())));
    const int size = LZ4_compress_default(reinterpret_cast<const char*>(bytes.data()),
                                          reinterpret_cast<char*>(room.data()), int(bytes.size()), int(room.size()));
    if (size > 0) return put_packed(out, Packing::lz4, View(room).first(size_t(size)));
    put_packed(out, Packing::as_it_is, bytes);
}

// Exactly `size` bytes: where they lie in the chunk if they do so as they are, else in `room`, which grows if need be.
inline View unpack(Reader& in, size_t size, Bytes& room) {
    const auto kind = in.get<uint8_t>();
    const View stored = in.take(in.get<uint64_t>());
    if (kind == uint8_t(Packing::as_it_is)) {
        if (stored.size() != size) damaged("a part of it has another length than it should");
        return stored;
    }
    if (size > most_packed) damaged("a part of it is longer than any that is written");
    if (room.size() < size) room.resize(size);
    if (kind == uint8_t(Packing::one_byte) && stored.size() == 1) {
        std::fill_n(room.data(), size, stored[0]);
    } else if (kind == uint8_t(Packing::lz4) && stored.size() <= most_packed) {
        const int found = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                              reinterpret_cast<char*>(room.data()), int(stored.size()), int(size));
        if (found != int(size)) damaged("compressed bytes of it do not have the length that they should");
    } else {
        damaged("a part of it is packed in an unknown way");
    }
    return View(room).first(size);
}

// Rooms for what is unpacked on the way, used again from chunk to chunk: fresh memory costs more than decoding.
struct Scratch {
    std::array<Bytes, 8> planes;
    Bytes numbers, codes;
};

// A run of bytes whose length stands before it.
inline void pack_with_length(Bytes& out, View bytes) {
    put(out, uint64_t(bytes.size()));
    pack(out, bytes);
}
inline View unpack_with_length(Reader& in, size_t most, Bytes& room) {
    const auto size = in.get<uint64_t>();
    if (size > most) damaged("a part of it is longer than it can be");
    return unpack(in, size_t(size), room);
}

}  // namespace widemargin::blocks
