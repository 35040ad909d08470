#include "foreign/hermes/owners.hpp"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace knell::hermes {

namespace {

/// A wall clock that was set a little since the machine started.
constexpr double clock_slack_seconds = 5;

double started_seconds(const ProcStat& stat, const ProcessView& view) {
    return static_cast<double>(to_millis(view.booted_at)) / 1000 +
           static_cast<double>(stat.start_ticks) / view.ticks_per_second;
}

/// By ticks since boot or by seconds since 1970: whoever wrote it does not say which.
bool is_start_of(const ProcStat& stat, double started, const ProcessView& view) {
    return std::abs(static_cast<double>(stat.start_ticks) - started) < 1 ||
           std::abs(started_seconds(stat, view) - started) <= clock_slack_seconds;
}

std::string process_words(pid_t pid, std::string_view where) {
    return fmt::format("process {} in {}", pid, where);
}

}  // namespace

pid_t pid_in_holder(std::string_view holder) {
    for (auto place = holder.find("pid="); place != std::string_view::npos;
         place = holder.find("pid=", place + 1)) {
        const bool is_word =
            place == 0 || std::isalnum(static_cast<unsigned char>(holder[place - 1])) == 0;
        if (is_word) return number_in<pid_t>(holder.substr(place + 4));
    }
    return 0;
}

Life judge(const OwnerEntry& entry, const ProcessView& view) {
    if (!entry.host.empty() && entry.host != view.host) return Life::unknown;
    const auto stat = view.look(entry.pid);
    if (!stat || stat->is_dead()) return Life::gone;
    // Without a start the number may be another's by now: enough to leave it alone.
    if (!entry.started || *entry.started <= 0) return Life::unknown;
    return is_start_of(*stat, *entry.started, view) ? Life::alive : Life::reused;
}

ProcessJudgement judge(const ProcessEntry& entry, const ProcessView& view, WallTime now,
                       std::optional<std::chrono::hours> holds_at_most) {
    ProcessJudgement judged;
    if (entry.started_at) {
        judged.age = std::chrono::floor<std::chrono::seconds>(now - *entry.started_at);
    }
    const auto stat = entry.is_on_host ? view.look(entry.pid) : std::nullopt;
    if (!entry.is_on_host) {
        judged.life = Life::unknown;
    } else if (!stat || stat->is_dead()) {
        judged.life = Life::gone;
    } else if (entry.start_ticks) {
        judged.life = stat->start_ticks == *entry.start_ticks ? Life::alive : Life::reused;
    } else if (entry.started_at) {
        // Whoever has the number now began well after the entry was written.
        const auto written = static_cast<double>(to_millis(*entry.started_at)) / 1000;
        judged.life = started_seconds(*stat, view) > written + 60 ? Life::reused : Life::unknown;
    }
    // Hermes asks only whether the process is in its list and how old it is.
    const bool is_listed = judged.life != Life::gone && judged.life != Life::reused;
    judged.holds_reset =
        is_listed && (!holds_at_most || !judged.age || *judged.age < *holds_at_most);
    return judged;
}

std::vector<FileHolder> possible_holders(const FileHolders& files) {
    std::vector<FileHolder> possible;
    for (const auto& process : files.unseen) {
        const auto& command = process.command;
        const bool may_be = command.empty() || process.pid == 0 ||
                            command.find("python") != std::string::npos ||
                            command.find("hermes") != std::string::npos;
        if (may_be) possible.push_back(process);
    }
    return possible;
}

RowJudge::RowJudge(Facts facts, ProcessView view)
    : view_(std::move(view)), files_(std::move(facts.files)) {
    const auto note_use = [this](std::string why) {
        if (in_use_.empty()) in_use_ = std::move(why);
    };
    for (const auto& holder : files_.holders) {
        note_use(fmt::format("process {} ({}) has state.db open", holder.pid, holder.command));
    }
    for (const auto& process : possible_holders(files_)) {
        note_use(fmt::format("process {} ({}) may have state.db open: it cannot be asked from here",
                             process.pid, process.command));
    }
    for (const auto& problem : facts.unreadable) note_use(problem);
    for (auto& owner : facts.owners) {
        if (!owner.session_id.empty()) {
            owners_[owner.session_id].push_back(std::move(owner));
            continue;
        }
        const auto life = hermes::judge(owner, view_);
        if (life == Life::gone || life == Life::reused) continue;
        const auto place = owner.host.empty() || owner.host == view_.host
                               ? std::string("runs")
                               : fmt::format("of host {} cannot be seen from here", owner.host);
        note_use(fmt::format("{} {}", process_words(owner.pid, owner.where), place));
        if (owner.where == "gateway.pid" && life == Life::alive) {
            gateway_ = fmt::format("the gateway (process {})", owner.pid);
        }
    }
    for (auto& entry : facts.routing) routing_[entry.session_id].push_back(std::move(entry));
    for (const auto& entry : facts.processes) {
        const auto life = hermes::judge(entry, view_, {}, {}).life;
        if (life != Life::alive && life != Life::unknown) continue;
        const bool runs = life == Life::alive;
        const auto words = fmt::format("its background process {} ({}) {}", entry.pid,
                                       entry.command, runs ? "runs" : "may run");
        for (const auto& name : {entry.session_key, entry.parent_session_id}) {
            if (name.empty()) continue;
            auto& verdict = work_[name];
            if (verdict.evidence.empty() || runs) {
                verdict = {runs ? Verdict::alive : Verdict::unknown, words};
            }
        }
    }
}

std::optional<RowVerdict> RowJudge::judge_named(const SessionRow& row) const {
    std::vector<OwnerEntry> named;
    if (const auto found = owners_.find(row.id); found != owners_.end()) named = found->second;
    if (!row.turn_holder.empty()) {
        if (const auto pid = pid_in_holder(row.turn_holder); pid > 0) {
            named.push_back({.pid = pid,
                             .started = {},
                             .session_id = row.id,
                             .host = "",
                             .where = "session_turn_leases"});
        }
    }
    std::optional<RowVerdict> gone;
    std::optional<RowVerdict> unsure;
    for (const auto& entry : named) {
        const auto words = process_words(entry.pid, entry.where);
        switch (hermes::judge(entry, view_)) {
            case Life::alive:
                return RowVerdict{Verdict::alive, words + " has it and runs"};
            case Life::unknown:
                unsure = RowVerdict{Verdict::unknown, words + " may have it"};
                break;
            case Life::gone:
            case Life::reused:
                gone = RowVerdict{Verdict::dead, words + " had it and has ended"};
                break;
        }
    }
    return unsure ? unsure : gone;
}

std::optional<RowVerdict> RowJudge::judge_routed(const SessionRow& row) const {
    const auto found = routing_.find(row.id);
    if (row.finalized) {
        return RowVerdict{Verdict::dead, "the gateway has finalized it (expiry_finalized)"};
    }
    if (found == routing_.end()) return std::nullopt;
    for (const auto& entry : found->second) {
        if (entry.finalized) {
            return RowVerdict{
                Verdict::dead,
                fmt::format("the gateway has finalized {} (expiry_finalized)", entry.key)};
        }
    }
    if (gateway_.empty()) return std::nullopt;
    return RowVerdict{Verdict::alive,
                      fmt::format("{} leads {} to it", gateway_, found->second.front().key)};
}

RowVerdict RowJudge::judge(const SessionRow& row) const {
    const auto named = judge_named(row);
    if (named && named->verdict != Verdict::dead) return *named;
    for (const auto& name : {row.id, row.key}) {
        const auto work = name.empty() ? work_.end() : work_.find(name);
        if (work != work_.end()) return work->second;
    }
    if (const auto routed = judge_routed(row)) return *routed;
    if (named) return *named;
    if (in_use_.empty()) return {Verdict::dead, "nobody has state.db open"};
    return {Verdict::unknown, in_use_};
}

}  // namespace knell::hermes
