#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/live_session.hpp"

namespace knell {

/// Where a live session stands in the table; good until it is erased.
using Slot = std::uint32_t;

/// The open sessions of a node, found by id.  A slab that never moves its elements, and beside it
/// an open-addressing index of 8 bytes an entry: a std::unordered_map would add 60 bytes a session.
class LiveTable {
  public:
    static constexpr Slot none = UINT32_MAX;

    Slot find(std::string_view id) const;
    /// `session.id()` must not be in the table.
    Slot insert(LiveSession&& session);
    LiveSession erase(Slot slot);

    LiveSession& at(Slot slot) { return slab_[slot]; }
    const LiveSession& at(Slot slot) const { return slab_[slot]; }
    std::size_t size() const { return size_; }

  private:
    /// Grows by chunks, so that its elements stay where they are and nothing is copied.
    class Slab {
      public:
        LiveSession& operator[](Slot slot) { return chunks_[slot / chunk_size][slot % chunk_size]; }
        const LiveSession& operator[](Slot slot) const {
            return chunks_[slot / chunk_size][slot % chunk_size];
        }
        std::size_t size() const { return size_; }
        void push_back(LiveSession&& session) {
            if (size_ % chunk_size == 0)
                chunks_.push_back(std::make_unique<LiveSession[]>(chunk_size));
            const auto slot = size_++;
            (*this)[static_cast<Slot>(slot)] = std::move(session);
        }

      private:
        static constexpr std::size_t chunk_size = 512;
        std::vector<std::unique_ptr<LiveSession[]>> chunks_;
        std::size_t size_ = 0;
    };

    struct Entry {
        std::uint32_t hash = 0;
        Slot slot = none;
    };

    void index(std::uint32_t hash, Slot slot);
    void grow();
    std::size_t position_of(std::string_view packed_id) const;
    /// Where an entry stands if nothing is in its way; in the order of the hashes, so growing
    /// writes from one end to the other.
    std::size_t home_of(std::uint32_t hash) const;
    std::size_t after(std::size_t position) const;
    std::size_t distance(std::size_t from, std::size_t to) const;

    Slab slab_;
    std::vector<Slot> free_;
    /// Between half and four fifths are in use: it grows by half, because every entry that is not
    /// counts for a million sessions, too.
    std::vector<Entry> entries_;
    std::size_t size_ = 0;
};

}  // namespace knell
