#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/live_session.hpp"
#include "engine/slot_index.hpp"

namespace knell {

/// The open sessions of a node, found by id.  A slab that never moves its elements, and an index
/// beside it.
class LiveTable {
  public:
    static constexpr Slot none = SlotIndex::none;

    Slot find(std::string_view id) const;
    /// `session.id()` must not be in the table.
    Slot insert(LiveSession&& session);
    LiveSession erase(Slot slot);

    LiveSession& at(Slot slot) { return slab_[slot]; }
    const LiveSession& at(Slot slot) const { return slab_[slot]; }
    std::size_t size() const { return by_id_.size(); }
    /// Slots below this one may hold a session.
    Slot slots() const { return static_cast<Slot>(slab_.size()); }
    bool holds(Slot slot) const { return slab_[slot].ordinal() != 0; }

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

    Slot find_packed(std::uint32_t hash, std::string_view packed_id) const;

    Slab slab_;
    std::vector<Slot> free_;
    SlotIndex by_id_;
};

}  // namespace knell
