// Memory and store have come apart: the store is right.

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "journal/journal.hpp"
#include "store/apply.hpp"

namespace knell {

namespace {

std::string what_became_of(const Session* row, bool is_behind) {
    if (row == nullptr) return "no row of it: forgotten";
    if (row->end) {
        return fmt::format("generation {}, ended ({}): forgotten, no session:end was told",
                           row->generation, name_of(row->end->reason));
    }
    if (is_behind) {
        return fmt::format("generation {}: set aside until the daemon is restarted",
                           row->generation);
    }
    return fmt::format("generation {}: taken over, its owner is watched from now on",
                       row->generation);
}

}  // namespace

/// Of background processes that the batch changed, those that do not run by the store.
void Journal::follow_processes(std::vector<std::string>& conflicts) {
    std::unordered_map<ProcessId, std::int64_t> changed;
    for (const auto& change : batch_.changes) {
        const auto* ref = process_ref_of(change);
        const auto* process = ref == nullptr ? nullptr : state_.processes().find(ref->id);
        if (process != nullptr) changed.emplace(ref->id, process->row.number);
    }
    if (changed.empty()) return;
    const auto read = store_.for_each_running_process([&](const BackgroundProcess& process) {
        const auto found = changed.find(process.id);
        if (found != changed.end() && found->second == process.number) changed.erase(found);
    });
    if (!read) return;
    for (const auto& [id, number] : changed) {
        conflicts.push_back(
            fmt::format("background process {} ran here; the store does not have it as running: "
                        "forgotten, no process:exit was told",
                        id.text()));
        state_.forget(id);
    }
}

std::vector<std::string> Journal::follow_store() {
    std::vector<std::string> conflicts;
    if (!std::exchange(has_conflict_, false)) return conflicts;
    follow_processes(conflicts);
    for (const auto& change : batch_.changes) {
        const auto* ref = ref_of(change);
        const auto* live = ref == nullptr ? nullptr : state_.find(ref->id);
        // One that is not open was decided on its row, which is read again next time.
        if (live == nullptr) continue;
        const auto row = store_.find(ref->id);
        if (!row) return conflicts;
        const auto* stands = *row ? &**row : nullptr;
        const auto generation = live->generation();
        const bool is_open = stands != nullptr && !stands->end;
        if (is_open && stands->generation == generation && stands->ordinal == live->ordinal()) {
            continue;
        }
        // The log holds the start of a later generation: nothing can be told of this one.
        const bool is_behind = is_open && stands->generation < generation;
        conflicts.push_back(
            fmt::format("session {} was open here in generation {}; the store has {}",
                        ref->id.text(), generation, what_became_of(stands, is_behind)));
        state_.follow(ref->id, is_open && !is_behind ? stands : nullptr);
    }
    return conflicts;
}

}  // namespace knell
