// About what commands leave behind: judged by who really started a process.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

bool owns_an_open_session(const ProcessIdentity& process, const Ledger& ledger) {
    for (const auto& [id, known] : ledger.sessions()) {
        if (!known.open) continue;
        const auto* life = ledger.life(SessionId(id), known.generation);
        const bool is_process = life->owner.kind == OwnerKind::process;
        if (is_process && life->is_owner_known && life->owner.process == process) return true;
    }
    return false;
}

/// A process may start children before it is a session's command, or be the command of several
/// sessions one after the other: what it leaves behind without a cookie is the last one's.
bool is_left_by_a_command(const Host::Process& process, const Ledger& ledger) {
    if (!process.started_by.empty() && !process.hides_cookie) return false;
    for (const auto& [id, known] : ledger.sessions()) {
        for (const auto& [generation, life] : known.lives) {
            const bool stops = !life.open && life.leftovers == LeftoversPolicy::stop;
            if (stops && life.owner.process == process.started_from) return true;
        }
    }
    return false;
}

bool is_below(const Host::Process& process, const ProcessIdentity& root, const Host& host) {
    if (process.identity == root) return true;
    const auto parent =
        std::ranges::find(host.processes(), process.started_from, &Host::Process::identity);
    return parent != host.processes().end() && is_below(*parent, root, host);
}

/// Somebody wants that background process stopped, or its session ended and wants so.
bool is_to_be_stopped(const std::string& id, const KnownProcess& known, const Ledger& ledger) {
    if (ledger.may_be_stopped(id)) return true;
    const auto* session = ledger.find(known.session);
    return session != nullptr && std::ranges::any_of(session->lives, [](const auto& one) {
               return !one.second.open && one.second.leftovers == LeftoversPolicy::stop;
           });
}

/// It belongs to a background process that is to be stopped.
bool is_stopped_with_its_tree(const Host::Process& process, const Scene& scene) {
    return std::ranges::any_of(scene.ledger.processes(), [&](const auto& one) {
        const auto& [id, known] = one;
        if (!is_to_be_stopped(id, known, scene.ledger)) return false;
        return process.process_id == id || is_below(process, known.process, scene.host);
    });
}

std::string what_is_wrong(const Host::Process& process, const Scene& scene) {
    const auto& ledger = scene.ledger;
    if (owns_an_open_session(process.identity, ledger)) return "it owns an open session";
    if (is_stopped_with_its_tree(process, scene)) return {};
    if (process.serves) return "it serves others";
    if (is_left_by_a_command(process, ledger)) return {};
    if (process.started_by.empty()) return "no session started it";
    const auto* life = ledger.life(SessionId(process.started_by), process.started_in);
    if (life == nullptr || !life->is_owner_known) return {};
    if (life->open) return fmt::format("session {} goes on", process.started_by);
    if (life->leftovers == LeftoversPolicy::stop) return {};
    return fmt::format("session {} only wants them named", process.started_by);
}

}  // namespace

std::string signalled_wrongly(const Scene& scene) {
    if (scene.signalled == nullptr) return "a process that never was is signalled";
    const auto what = what_is_wrong(*scene.signalled, scene);
    if (what.empty()) return {};
    return fmt::format("process {} is signalled: {}", scene.signalled->identity.pid, what);
}

std::string fate_unknown(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto row = scene.reader->find(SessionId(id));
        if (!row || !*row || !(*row)->end) continue;
        if (has_unsettled((*row)->end->leftovers)) {
            return fmt::format("nobody knows what became of the leftovers of session {}", id);
        }
    }
    return {};
}

}  // namespace knell::sim
