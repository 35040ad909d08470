#include "engine/slot_index.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.hpp"

namespace knell {

std::uint32_t SlotIndex::hash_of(std::string_view text) {
    const auto wide = std::hash<std::string_view>{}(text);
    return static_cast<std::uint32_t>(wide ^ (wide >> 32U));
}

std::size_t SlotIndex::position_of(std::uint32_t hash, Slot slot) const {
    CHECK(!entries_.empty());
    auto at = home_of(hash);
    while (entries_[at].slot != slot) {
        CHECK(entries_[at].slot != none);
        at = after(at);
    }
    return at;
}

void SlotIndex::insert(std::uint32_t hash, Slot slot) {
    if ((size_ + 1) * 5 > entries_.size() * 4) grow();
    put(hash, slot);
    ++size_;
}

void SlotIndex::erase(std::uint32_t hash, Slot slot) {
    auto hole = position_of(hash, slot);
    // Backward-shift deletion: no tombstones, so a long life of opens and ends costs nothing.
    for (auto at = after(hole); entries_[at].slot != none; at = after(at)) {
        const bool stays = distance(home_of(entries_[at].hash), at) < distance(hole, at);
        if (stays) continue;
        entries_[hole] = entries_[at];
        hole = at;
    }
    entries_[hole] = {};
    --size_;
}

void SlotIndex::replace(std::uint32_t hash, Slot slot, Slot by) {
    entries_[position_of(hash, slot)].slot = by;
}

void SlotIndex::put(std::uint32_t hash, Slot slot) {
    auto at = home_of(hash);
    while (entries_[at].slot != none) at = after(at);
    entries_[at] = {hash, slot};
}

void SlotIndex::grow() {
    auto old = std::exchange(entries_, {});
    entries_.resize(std::max<std::size_t>(16, old.size() + old.size() / 2));
    for (const auto& entry : old) {
        if (entry.slot != none) put(entry.hash, entry.slot);
    }
}

}  // namespace knell
