#include "engine/live_table.hpp"

#include <utility>

#include "base/check.hpp"

namespace knell {

Slot LiveTable::find_packed(std::uint32_t hash, std::string_view packed_id) const {
    return by_id_.find(hash, [&](Slot slot) { return slab_[slot].packed_id() == packed_id; });
}

Slot LiveTable::find(std::string_view id) const {
    const PackedId packed(id);
    return find_packed(SlotIndex::hash_of(packed.bytes()), packed.bytes());
}

Slot LiveTable::insert(LiveSession&& session) {
    const auto hash = SlotIndex::hash_of(session.packed_id());
    CHECK(find_packed(hash, session.packed_id()) == none);
    Slot slot = 0;
    if (free_.empty()) {
        slot = static_cast<Slot>(slab_.size());
        slab_.push_back(std::move(session));
    } else {
        slot = free_.back();
        free_.pop_back();
        slab_[slot] = std::move(session);
    }
    by_id_.insert(hash, slot);
    return slot;
}

LiveSession LiveTable::erase(Slot slot) {
    by_id_.erase(SlotIndex::hash_of(slab_[slot].packed_id()), slot);
    free_.push_back(slot);
    return std::exchange(slab_[slot], {});
}

}  // namespace knell
