#include "engine/live_table.hpp"

#include <functional>
#include <utility>

#include "base/check.hpp"

namespace knell {

namespace {

constexpr std::size_t not_there = SIZE_MAX;

std::uint32_t hash_of(std::string_view id) {
    const auto wide = std::hash<std::string_view>{}(id);
    return static_cast<std::uint32_t>(wide ^ (wide >> 32U));
}

}  // namespace

std::size_t LiveTable::position_of(std::string_view id) const {
    if (entries_.empty()) return not_there;
    const auto hash = hash_of(id);
    for (std::size_t at = hash & mask(); entries_[at].slot != none; at = (at + 1) & mask()) {
        const auto& entry = entries_[at];
        if (entry.hash == hash && slab_[entry.slot].id() == id) return at;
    }
    return not_there;
}

Slot LiveTable::find(std::string_view id) const {
    const auto at = position_of(id);
    return at == not_there ? none : entries_[at].slot;
}

Slot LiveTable::insert(LiveSession&& session) {
    CHECK(find(session.id()) == none);
    if ((size_ + 1) * 4 > entries_.size() * 3) grow();
    const auto hash = hash_of(session.id());
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
    auto hole = position_of(slab_[slot].id());
    CHECK(hole != not_there);
    // Backward-shift deletion: no tombstones, so a long life of opens and ends costs nothing.
    for (auto at = (hole + 1) & mask(); entries_[at].slot != none; at = (at + 1) & mask()) {
        const auto home = entries_[at].hash & mask();
        const bool stays = ((at - home) & mask()) < ((at - hole) & mask());
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
    auto at = hash & mask();
    while (entries_[at].slot != none) at = (at + 1) & mask();
    entries_[at] = {hash, slot};
}

void LiveTable::grow() {
    auto old = std::exchange(entries_, {});
    entries_.resize(old.empty() ? 16 : old.size() * 2);
    for (const auto& entry : old) {
        if (entry.slot != none) index(entry.hash, entry.slot);
    }
}

}  // namespace knell
