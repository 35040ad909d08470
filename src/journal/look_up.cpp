// What the journal finds out of a session before something is decided about it: in memory, in what
// is decided and not written yet, in the store.

#include <algorithm>

#include "core/limits.hpp"
#include "journal/journal.hpp"
#include "store/apply.hpp"

namespace knell {

bool Journal::is_in_batch(const SessionId& id) const {
    return std::ranges::any_of(batch_.changes, [&](const Change& change) {
        if (const auto* opened = std::get_if<Opened>(&change)) return opened->session.id == id;
        const auto* ref = ref_of(change);
        return ref != nullptr && ref->id == id;
    });
}

bool Journal::has_child_in_batch(const SessionId& id) const {
    return std::ranges::any_of(batch_.changes, [&](const Change& change) {
        const auto* opened = std::get_if<Opened>(&change);
        return opened != nullptr && opened->session.parent_id == id;
    });
}

/// The newest session of a key, followed through what it was compressed into.  Nothing: what was
/// decided of it is not written yet.
Result<std::optional<std::optional<Session>>> Journal::find_tip(const std::string& key) {
    using Tip = std::optional<Session>;
    if (state_.key_ended_in_batch(key)) return std::optional<Tip>{};
    auto row = store_.newest_of_key(key);
    for (std::size_t depth = 0; row && *row; ++depth) {
        const auto& tip = **row;
        if (is_ended_in_batch(tip.id)) return std::optional<Tip>{};
        const bool is_compressed = tip.end && tip.end->reason == Reason::compression;
        if (!is_compressed || depth == limits::parents_max) break;
        if (has_child_in_batch(tip.id)) return std::optional<Tip>{};
        auto child = store_.newest_child(tip.id, Relation::compression);
        if (child && !*child) break;
        row = std::move(child);
    }
    if (!row) return std::unexpected(row.error());
    return std::optional<Tip>{std::move(*row)};
}

Result<std::optional<bool>> Journal::has_newer_of_key(const Session& past) {
    if (past.key.empty()) return false;
    if (const auto* live = state_.find_by_key(past.key)) return live->ordinal() > past.ordinal;
    if (state_.key_ended_in_batch(past.key)) return std::nullopt;
    const auto newest = store_.newest_of_key(past.key);
    if (!newest) return std::unexpected(newest.error());
    return *newest && (*newest)->ordinal > past.ordinal;
}

Result<std::optional<bool>> Journal::is_own_ancestor(const Create& create) {
    // An id that we made ourselves is nobody's parent yet.
    if (create.fresh_id) return false;
    auto id = create.draft.parent_id;
    for (std::size_t depth = 0; depth < limits::parents_max && !id.empty(); ++depth) {
        if (id == create.draft.id) return true;
        if (const auto* live = state_.find(id)) {
            id = live->parent_id();
            continue;
        }
        if (is_ended_in_batch(id)) return std::nullopt;
        auto row = store_.find(id);
        if (!row) return std::unexpected(row.error());
        if (!*row) return false;
        id = (*row)->parent_id;
    }
    return false;
}

}  // namespace knell
