#include "engine/guard_table.hpp"

#include <utility>

namespace knell {

const GuardState* GuardTable::find(Ordinal session) const {
    const auto found = states_.find(session);
    return found == states_.end() ? nullptr : &found->second;
}

void GuardTable::keep_for_revert(Ordinal session) {
    const auto [kept, is_first] = before_.try_emplace(session);
    if (!is_first) return;
    if (const auto* state = find(session)) kept->second = *state;
}

void GuardTable::set(Ordinal session, GuardState&& state) {
    keep_for_revert(session);
    states_.insert_or_assign(session, std::move(state));
}

void GuardTable::forget(Ordinal session) {
    if (find(session) == nullptr) return;
    keep_for_revert(session);
    states_.erase(session);
}

void GuardTable::revert() {
    for (auto& [session, state] : std::exchange(before_, {})) {
        if (state) {
            states_.insert_or_assign(session, std::move(*state));
        } else {
            states_.erase(session);
        }
    }
}

}  // namespace knell
