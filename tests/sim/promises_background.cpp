// About background processes: what is on record of them is compared with what really runs.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

/// All that run, as somebody who lists them is told; none: a bad disk.
std::optional<std::vector<ProcessOnRecord>> rows_of(const Scene& scene) {
    auto page = scene.reader->processes({.limit = 1000});
    if (!page) return std::nullopt;
    return std::move(page->processes);
}

const Host::Process* find(const ProcessIdentity& identity, const Host& host) {
    const auto found = std::ranges::find(host.processes(), identity, &Host::Process::identity);
    return found == host.processes().end() ? nullptr : &*found;
}

}  // namespace

std::string executed_off_record(const Scene& scene) {
    const auto& process = *scene.executes;
    if (process.executed > 0) {
        return fmt::format("process {} executes its program again", process.process_id);
    }
    const auto row = scene.reader->process(ProcessId(process.process_id));
    if (!row) return {};  // a bad disk
    if (!*row) return fmt::format("process {} runs, and is not on record", process.process_id);
    if ((*row)->process.process == process.identity && !(*row)->process.exit) return {};
    return fmt::format("process {} runs, another is on record for it", process.process_id);
}

std::string process_forgotten(const Scene& scene) {
    if (scene.reader == nullptr) return {};
    for (const auto& process : scene.host.processes()) {
        if (process.gate != Host::Gate::open || process.executed == 0) continue;
        const auto row = scene.reader->process(ProcessId(process.process_id));
        if (!row) return {};  // a bad disk
        if (!*row) return fmt::format("process {} ran, and is not on record", process.process_id);
        if (process.alive && (*row)->process.exit) {
            return fmt::format("process {} lives, and its exit is on record", process.process_id);
        }
    }
    return {};
}

std::string processes_misread(const Scene& scene) {
    const auto rows = rows_of(scene);
    if (!rows) return {};
    if (rows->size() != scene.ledger.running()) {
        return fmt::format("the log leaves {} running, {} are listed", scene.ledger.running(),
                           rows->size());
    }
    for (const auto& [row, session] : *rows) {
        const auto& id = row.id.text();
        const auto* known = scene.ledger.find(row.id);
        if (known == nullptr || !known->running) {
            return fmt::format("process {} is listed, the log does not leave it running", id);
        }
        if (row.process != known->process || row.session_id != known->session) {
            return fmt::format("process {} is listed as another", id);
        }
        const auto* of = scene.ledger.find(row.session_id);
        const auto is = of == nullptr ? ProcessOnRecord::Session::none
                        : of->open    ? ProcessOnRecord::Session::open
                                      : ProcessOnRecord::Session::ended;
        if (session != is) return fmt::format("process {}: its session is not what it says", id);
        if (known->activity && *known->activity != row.activity.activity) {
            return fmt::format("process {} is {}, on record {}", id,
                               name_in(process_activity_names, *known->activity),
                               name_in(process_activity_names, row.activity.activity));
        }
        if (!known->vouched_until || *known->vouched_until == row.vouched_until) continue;
        if (!row.vouched_until && known->may_be_over) continue;
        return fmt::format("process {}: it is not on record until when it is vouched for", id);
    }
    return {};
}

std::string background_differs(const Scene& scene) {
    const auto rows = rows_of(scene);
    if (!rows) return {};
    const auto now = scene.host.readings().wall;
    std::set<SessionId> kept;
    for (const auto& [row, session] : *rows) {
        if (counts_as_work(row, now)) kept.insert(row.session_id);
    }
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto* live = known.open ? scene.state->find(SessionId(id)) : nullptr;
        if (live == nullptr) continue;
        const auto session = scene.reader->find(SessionId(id));
        if (!session || !*session) return {};  // a bad disk
        const bool is_kept = kept.contains(SessionId(id));
        const bool says_so = (*session)->background_since.has_value();
        const bool shows = live->status() == Status::background;
        if (is_kept == says_so && (!shows || is_kept)) continue;
        return fmt::format("session {}: {}, it is {}", id,
                           is_kept ? "work of its counts" : "nothing of its counts as work",
                           says_so ? "in the background" : "not");
    }
    return {};
}

std::string vouch_unheeded(const Scene& scene) {
    const auto rows = rows_of(scene);
    if (!rows) return {};
    for (const auto& [row, session] : *rows) {
        if (!row.vouched_until) continue;
        const auto left = *row.vouched_until - scene.host.readings().wall;
        if (left.count() <= 0) {
            return fmt::format("process {}: its vouch is over, and on record", row.id.text());
        }
        // A moment late is early enough.
        const auto most = std::max(left, std::chrono::milliseconds{1000});
        if (scene.max_wait && *scene.max_wait <= most) continue;
        return fmt::format("process {}: nobody wakes when its vouch is over", row.id.text());
    }
    return {};
}

std::string process_unwatched(const Scene& scene) {
    if (scene.watching_background == nullptr || scene.words_on_their_way) return {};
    for (const auto& [id, known] : scene.ledger.processes()) {
        if (!known.running || !scene.host.is_alive(known.process)) continue;
        if (scene.watching_background->how(known.process) != WatchList::How::not_watched) continue;
        return fmt::format("process {} runs, and nobody watches it", id);
    }
    return {};
}

std::string exit_unnoticed(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.processes()) {
        if (!known.running || scene.host.is_alive(known.process)) continue;
        return fmt::format("process {} is gone and nobody noticed", id);
    }
    return {};
}

namespace {

/// It, or something below it, owned a session at some time: then it may have been spared.
bool may_be_spared(const ProcessIdentity& process, const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        for (const auto& [generation, life] : known.lives) {
            if (life.owner.process == process) return true;
        }
    }
    return std::ranges::any_of(scene.host.processes(), [&](const Host::Process& child) {
        return child.started_from == process && may_be_spared(child.identity, scene);
    });
}

/// It, or whom it descends from, owned a session at some time or came on record by itself.
bool is_others(const Host::Process& process, const Scene& scene) {
    if (may_be_spared(process.identity, scene)) return true;
    const bool is_on_record = std::ranges::any_of(scene.ledger.processes(), [&](const auto& one) {
        return one.second.process == process.identity && one.first != process.process_id;
    });
    if (is_on_record) return true;
    const auto* parent = find(process.started_from, scene.host);
    return parent != nullptr && parent->process_id == process.process_id &&
           is_others(*parent, scene);
}

}  // namespace

std::string stop_unfinished(const Scene& scene) {
    const auto rows = rows_of(scene);
    if (!rows) return {};
    for (const auto& [row, session] : *rows) {
        const auto* process = find(row.process, scene.host);
        if (process == nullptr || !process->alive) continue;
        if (row.stop_asked_at) {
            return fmt::format("process {} was to be stopped, and lives", row.id.text());
        }
        const bool is_seen = row.process.pid_namespace == scene.host.own_pid_namespace();
        if (row.stop_asked_by.empty() || process->was_hidden || !is_seen) continue;
        if (may_be_spared(row.process, scene)) continue;
        return fmt::format("process {} was to be stopped, and was left for no reason: {}",
                           row.id.text(), row.stop_asked_by);
    }
    return {};
}

std::string stop_left_some(const Scene& scene) {
    for (const auto& process : scene.host.processes()) {
        const bool is_marked = !process.process_id.empty() && !process.hides_cookie;
        if (!process.alive || !is_marked || process.was_hidden || is_others(process, scene))
            continue;
        const auto row = scene.reader->process(ProcessId(process.process_id));
        if (!row || !*row) continue;  // a bad disk
        const auto& stopped = (*row)->process;
        if (!stopped.exit || !stopped.stop_asked_at || stopped.process == process.identity)
            continue;
        return fmt::format("process {} was stopped, and process {}, which it started, lives",
                           process.process_id, process.identity.pid);
    }
    return {};
}

}  // namespace knell::sim
