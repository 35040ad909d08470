#include "engine/live_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.hpp"

namespace knell {

namespace {

constexpr std::size_t not_there = SIZE_MAX;

std::uint32_t hash_of(std::string_view packed_id) {
    const auto wide = std::hash<std::string_view>{}(packed_id);
    return static_cast<std::uint32_t>(wide ^ (wide >> 32U));
}

}  // namespace

std::size_t LiveTable::home_of(std::uint32_t hash) const {
    return static_cast<std::size_t>((std::uint64_t{hash} * entries_.size()) >> 32U);
}

std::size_t LiveTable::after(std::size_t position) const {
    return position + 1 == entries_.size() ? 0 : position + 1;
}

std::size_t LiveTable::distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + entries_.size() - from;
}

std::size_t LiveTable::position_of(std::string_view packed_id) const {
    if (entries_.empty()) return not_there;
    const auto hash = hash_of(packed_id);
    for (auto at = home_of(hash); entries_[at].slot != none; at = after(at)) {
        const auto& entry = entries_[at];
        if (entry.hash == hash && slab_[entry.slot].packed_id() == packed_id) return at;
    }
    return not_there;
}

Slot LiveTable::find(std::string_view id) const {
    const auto at = position_of(PackedId(id).bytes());
    return at == not_there ? none : entries_[at].slot;
}

Slot LiveTable::insert(LiveSession&& session) {
    CHECK(position_of(session.packed_id()) == not_there);
    if ((size_ + 1) * 5 > entries_.size() * 4) grow();
    const auto hash = hash_of(session.packed_id());
    Slot slot = 0;
    if (free_.empty()) {
        slot = static_cast<Slot>(slab_.size());
        slab_.push_back(std::move(session));
    } else {
        slot = free_.back();
        free_.pop_back();
        slab_[slot] = std::move(session);
    }
    index(hash, slot);
    ++size_;
    return slot;
}

LiveSession LiveTable::erase(Slot slot) {
    auto hole = position_of(slab_[slot].packed_id());
    CHECK(hole != not_there);
    // Backward-shift deletion: no tombstones, so a long life of opens and ends costs nothing.
    for (auto at = after(hole); entries_[at].slot != none; at = after(at)) {
        const bool stays = distance(home_of(entries_[at].hash), at) < distance(hole, at);
        if (stays) continue;
        entries_[hole] = entries_[at];
        hole = at;
    }
    entries_[hole] = {};
    free_.push_back(slot);
    --size_;
    return std::exchange(slab_[slot], {});
}

void LiveTable::index(std::uint32_t hash, Slot slot) {
    auto at = home_of(hash);
    while (entries_[at].slot != none) at = after(at);
    entries_[at] = {hash, slot};
}

void LiveTable::grow() {
    auto old = std::exchange(entries_, {});
    entries_.resize(std::max<std::size_t>(16, old.size() + old.size() / 2));
    for (const auto& entry : old) {
        if (entry.slot != none) index(entry.hash, entry.slot);
    }
}

}  // namespace knell
