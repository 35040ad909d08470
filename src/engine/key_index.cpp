#include "engine/key_index.hpp"

#include "base/check.hpp"

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
    auto& crowd = crowds_[std::string(live.key())];
    crowd.emplace(table.at(newest).ordinal(), newest);
    crowd.emplace(live.ordinal(), slot);
    newest_.replace(hash, newest, crowd.rbegin()->second);
}

void KeyIndex::erase(const LiveTable& table, Slot slot) {
    const auto& live = table.at(slot);
    if (live.key().empty() || live.is_key_taken()) return;
    const auto hash = SlotIndex::hash_of(live.key());
    const auto found = crowds_.find(std::string(live.key()));
    if (found == crowds_.end()) return newest_.erase(hash, slot);
    auto& crowd = found->second;
    const auto newest = crowd.rbegin()->second;
    CHECK(crowd.erase({live.ordinal(), slot}) == 1);
    newest_.replace(hash, newest, crowd.rbegin()->second);
    if (crowd.size() == 1) crowds_.erase(found);
}

}  // namespace knell
