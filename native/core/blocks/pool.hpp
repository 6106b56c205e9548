// Memory that chunks are decoded into and give back when they go: the first touch of fresh memory costs several times
// what decoding does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/system/huge.hpp"

namespace widemargin::blocks {

class Pool : public std::enable_shared_from_this<Pool> {
  public:
    // At least so many bytes, aligned for any number; they return to the pool with the last copy of the pointer.
    std::shared_ptr<std::byte> get(std::size_t bytes) {
        Piece piece = taken(bytes);
        auto* memory = piece.data();
        auto giver = [home = shared_from_this(), kept = std::make_shared<Piece>(std::move(piece))](std::byte*) {
            home->give_back(std::move(*kept));
        };
        return {memory, std::move(giver)};
    }

    // Frees what nobody uses.
    void clear() {
        const std::lock_guard lock(guard_);
        idle_.clear();
    }

  private:
    using Piece = HugeVector<std::byte>;

    // The smallest idle piece that is large enough and not four times as large as need be; else a new one, with some
    // room to spare for the next chunk.
    Piece taken(std::size_t bytes) {
        {
            const std::lock_guard lock(guard_);
            auto best = idle_.end();
            for (auto piece = idle_.begin(); piece != idle_.end(); ++piece)
                if (fits(*piece, bytes) && (best == idle_.end() || piece->size() < best->size())) best = piece;
            if (best != idle_.end()) {
                Piece found = std::move(*best);
                idle_.erase(best);
                return found;
            }
            make_room(bytes);
        }
        return Piece(bytes + bytes / 16 + 64);
    }
    static bool fits(const Piece& piece, std::size_t bytes) {
        return piece.size() >= bytes && piece.size() / 4 <= bytes + 64;
    }

    // Idle pieces of as many bytes go before a new one is made, the oldest first: the pool never holds much more than
    // was ever in use at a time.
    void make_room(std::size_t bytes) {
        std::size_t freed = 0, count = 0;
        while (count < idle_.size() && freed < bytes) freed += idle_[count++].size();
        idle_.erase(idle_.begin(), idle_.begin() + std::ptrdiff_t(count));
    }

    void give_back(Piece&& piece) {
        const std::lock_guard lock(guard_);
        idle_.push_back(std::move(piece));
    }

    std::mutex guard_;
    std::vector<Piece> idle_;
};

}  // namespace widemargin::blocks
