#include "engine/key_index.hpp"

namespace knell {

Slot KeyIndex::find(const LiveTable& table, std::string_view key) const {
    if (key.empty()) return SlotIndex::none;
    return newest_.find(SlotIndex::hash_of(key),
                        [&](Slot slot) { return table.at(slot).key() == key; });
}

void KeyIndex::insert(const LiveTable& table, Slot slot) {
    const auto& live = table.at(slot);
    if (live.key().empty() || live.is_key_taken()) return;
    const auto hash = SlotIndex::hash_of(live.key());
    const auto newest = find(table, live.key());
    if (newest == SlotIndex::none) return newest_.insert(hash, slot);
    if (table.at(newest).ordinal() < live.ordinal()) newest_.replace(hash, newest, slot);
}

void KeyIndex::erase(const LiveTable& table, Slot slot) {
    const auto& live = table.at(slot);
    if (live.key().empty() || live.is_key_taken()) return;
    if (find(table, live.key()) == slot) newest_.erase(SlotIndex::hash_of(live.key()), slot);
}

}  // namespace knell
