#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace knell {

/// Where a live session stands in the table; good until it is erased.
using Slot = std::uint32_t;

/// Finds slots by the hash of something that they hold: open addressing, 8 bytes an entry.  A
/// std::unordered_map would add 60 bytes a session.  It knows no texts: who asks compares.
class SlotIndex {
  public:
    static constexpr Slot none = UINT32_MAX;

    static std::uint32_t hash_of(std::string_view text);

    /// The slot with that hash for which `is` holds, or none.
    template <typename Is>
    Slot find(std::uint32_t hash, Is&& is) const {
        if (entries_.empty()) return none;
        for (auto at = home_of(hash); entries_[at].slot != none; at = after(at)) {
            const auto& entry = entries_[at];
            if (entry.hash == hash && is(entry.slot)) return entry.slot;
        }
        return none;
    }
    void insert(std::uint32_t hash, Slot slot);
    /// It must be there, and so for the next.
    void erase(std::uint32_t hash, Slot slot);
    void replace(std::uint32_t hash, Slot slot, Slot by);
    std::size_t size() const { return size_; }

  private:
    struct Entry {
        std::uint32_t hash = 0;
        Slot slot = none;
    };

    void put(std::uint32_t hash, Slot slot);
    void grow();
    std::size_t position_of(std::uint32_t hash, Slot slot) const;
    /// Where an entry stands if nothing is in its way; in the order of the hashes, so growing
    /// writes from one end to the other.
    std::size_t home_of(std::uint32_t hash) const {
        return static_cast<std::size_t>((std::uint64_t{hash} * entries_.size()) >> 32U);
    }
    std::size_t after(std::size_t position) const {
        return position + 1 == entries_.size() ? 0 : position + 1;
    }
    std::size_t distance(std::size_t from, std::size_t to) const {
        return to >= from ? to - from : to + entries_.size() - from;
    }

    /// Between half and four fifths are in use: it grows by half, because every entry that is not
    /// counts for a million sessions, too.
    std::vector<Entry> entries_;
    std::size_t size_ = 0;
};

}  // namespace knell
