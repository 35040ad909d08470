#pragma once

#include <cstdint>
#include <deque>
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
    struct Entry {
        std::uint32_t hash = 0;
        Slot slot = none;
    };

    void index(std::uint32_t hash, Slot slot);
    void grow();
    std::size_t position_of(std::string_view id) const;
    std::size_t mask() const { return entries_.size() - 1; }

    std::deque<LiveSession> slab_;
    std::vector<Slot> free_;
    std::vector<Entry> entries_;  // a power of two, or empty
    std::size_t size_ = 0;
};

}  // namespace knell
