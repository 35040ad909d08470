// Memory is only a copy: whatever both hold, the store says the same.

#include <functional>
#include <map>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

std::string difference(const LiveSession& live, const Session& row, const State& state) {
    if (row.end) return "it has ended on record";
    if (live.generation() != row.generation) return "generation";
    if (live.ordinal() != row.ordinal) return "ordinal";
    if (live.owner(state.owner_hosts()) != row.owner) return "owner";
    if (live.on_owner_loss() != row.on_owner_loss) return "on_owner_loss";
    if (live.park_window() != row.park_window) return "park window";
    if (live.leftovers() != row.leftovers) return "leftovers";
    if (live.turn_since() != row.turn_since) return "turn_since";
    if (live.unknown_since() != row.unknown_since) return "unknown_since";
    if (live.stalled_since() != row.stalled_since) return "stalled_since";
    if (live.parked_since() != row.parked_since) return "parked_since";
    if (live.parked_before() != row.parked_before) return "parked_before";
    if (live.park_why() != row.park_why) return "park_why";
    if (static_cast<std::int32_t>(live.clients().size()) != row.attached) return "attached";
    if (live.is_attach_told() != row.attach_told) return "attach_told";
    if (live.detached_since() != row.detached_since) return "detached_since";
    if (live.background_since() != row.background_since) return "background_since";
    if (live.key() != row.key) return "key";
    if (live.is_key_taken() != row.key_taken) return "key_taken";
    if (live.source() != row.source) return "source";
    if (live.platform() != row.platform) return "platform";
    if (live.user_id() != row.user_id) return "user_id";
    if (live.chat_type() != row.chat_type) return "chat_type";
    if (live.suspended_at() != row.suspended_at) return "suspended_at";
    if (live.suspend_why() != row.suspend_why) return "suspend_why";
    if (live.reset_held_since() != row.reset_held_since) return "reset_held_since";
    if (live.reset_held_by() != row.reset_held_by) return "reset_held_by";
    if (live.tally() != row.tally) return "what was counted of its messages";
    if (live.title() != row.title) return "title";
    if (live.cwd() != row.cwd) return "cwd";
    if (live.parent_id() != row.parent_id) return "parent_id";
    if (live.former_owners() != row.former_owners) return "former owners";
    if (!live.is_seen_unsaved() && live.last_seen_at() != row.last_seen_at) return "last_seen_at";
    return {};
}

std::string difference(const SessionId& id, const Scene& scene) {
    const auto* live = scene.state->find(id);
    const auto row = scene.reader->find(id);
    if (!row) return {};  // a bad disk
    if (live == nullptr) {
        const bool is_open = *row && !(*row)->end;
        return is_open ? fmt::format("session {} is open on record only", id.text()) : "";
    }
    if (!*row) return fmt::format("session {} is in memory only", id.text());
    const auto what = difference(*live, **row, *scene.state);
    return what.empty() ? what : fmt::format("session {} differs: {}", id.text(), what);
}

/// Of each key the newest that is open is found by it.
std::string keys_differ(const Scene& scene) {
    std::map<std::string, const LiveSession*, std::less<>> newest;
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto* live = scene.state->find(SessionId(id));
        if (live == nullptr || live->is_key_taken()) continue;
        auto& found = newest[std::string(live->key())];
        if (found == nullptr || found->ordinal() < live->ordinal()) found = live;
    }
    newest.erase("");
    for (const auto& [key, live] : newest) {
        if (scene.state->find_by_key(key) == live) continue;
        return fmt::format("session {} is not found by its key {}", live->id().text(), key);
    }
    return {};
}

/// Those that run: each is small, and there are few.
std::string processes_differ(const Scene& scene) {
    const auto page = scene.reader->processes({.limit = 1000});
    if (!page) return {};  // a bad disk
    const auto& running = scene.state->processes();
    if (page->processes.size() != running.size()) {
        return fmt::format("{} processes run on record, {} in memory", page->processes.size(),
                           running.size());
    }
    for (const auto& [row, session] : page->processes) {
        const auto* process = running.find(row.id);
        if (process == nullptr) return fmt::format("process {} runs on record only", row.id.text());
        if (process->row != row) return fmt::format("process {} differs", row.id.text());
        if (running.find(row.process) != process) {
            return fmt::format("process {} is not found by what it is", row.id.text());
        }
    }
    return {};
}

}  // namespace

std::string memory_differs(const Scene& scene) {
    if (scene.state == nullptr || scene.reader == nullptr) return {};
    if (auto what = processes_differ(scene); !what.empty()) return what;
    for (const auto& event : scene.step.told) {
        if (event.session_id.empty()) continue;
        if (auto what = difference(event.session_id, scene); !what.empty()) return what;
    }
    // Not everything makes an event: at each step a few of the others, in turn.
    constexpr std::size_t others = 3;
    const auto& known = scene.ledger.sessions();
    if (known.empty()) return {};
    auto at = std::next(known.begin(),
                        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(scene.ledger.head()) *
                                                    others % known.size()));
    for (std::size_t i = 0; i < std::min(others, known.size()); ++i) {
        if (auto what = difference(SessionId(at->first), scene); !what.empty()) return what;
        if (++at == known.end()) at = known.begin();
    }
    return {};
}

std::string memory_differs_anywhere(const Scene& scene) {
    if (scene.state == nullptr || scene.reader == nullptr) return {};
    if (auto what = processes_differ(scene); !what.empty()) return what;
    if (auto what = keys_differ(scene); !what.empty()) return what;
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (auto what = difference(SessionId(id), scene); !what.empty()) return what;
    }
    return {};
}

}  // namespace knell::sim
