#include "engine/owner_table.hpp"

#include <utility>

#include "base/check.hpp"

namespace knell {

OwnerTable::Number OwnerTable::find(const ProcessIdentity& process) const {
    const auto found = by_process_.find(key_of(process));
    return found == by_process_.end() ? none : found->second;
}

void OwnerTable::link(LiveTable& table, Slot slot, const ProcessIdentity& process) {
    const auto [place, is_new] = by_process_.try_emplace(key_of(process), none);
    if (is_new) {
        if (free_.empty()) {
            place->second = static_cast<Number>(entries_.size());
            entries_.emplace_back();
        } else {
            place->second = free_.back();
            free_.pop_back();
        }
        entries_[place->second].process = process;
    }
    auto& entry = entries_[place->second];
    auto& link = table.at(slot).owner_link();
    link = {place->second, LiveTable::none, entry.first};
    if (entry.first != LiveTable::none) table.at(entry.first).owner_link().previous = slot;
    entry.first = slot;
    if (table.at(slot).leftovers() != LeftoversPolicy::none) ++entry.commands;
    if (table.at(slot).unknown_since()) {
        ++entry.uncertain;
        entry.unclear = true;
    }
    if (entry.sessions++ == 0) touched_.push_back(place->second);
}

void OwnerTable::unlink(LiveTable& table, Slot slot) {
    auto& link = table.at(slot).owner_link();
    if (link.owner == none) return;
    auto& entry = entries_[link.owner];
    if (link.previous == LiveTable::none) {
        entry.first = link.next;
    } else {
        table.at(link.previous).owner_link().next = link.next;
    }
    if (link.next != LiveTable::none) table.at(link.next).owner_link().previous = link.previous;
    if (table.at(slot).leftovers() != LeftoversPolicy::none) --entry.commands;
    if (table.at(slot).unknown_since()) --entry.uncertain;
    if (--entry.sessions == 0) touched_.push_back(link.owner);
    link = {};
}

std::vector<OwnerTable::Number> OwnerTable::take_touched() {
    return std::exchange(touched_, {});
}

void OwnerTable::drop(Number number) {
    CHECK(entries_[number].sessions == 0);
    by_process_.erase(key_of(entries_[number].process));
    entries_[number] = {};
    free_.push_back(number);
}

}  // namespace knell
