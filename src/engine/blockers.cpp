#include "engine/blockers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "core/names.hpp"

namespace knell {

namespace {

/// Named in a sentence; more are counted.
constexpr std::size_t described_max = 8;

Blocker of(const RunningProcess& process) {
    const auto& row = process.row;
    Blocker blocker;
    blocker.process_id = row.id;
    blocker.pid = row.process.pid;
    blocker.command = command_text(row.argv, limits::leftover_command_bytes_max);
    blocker.started_at = row.started_at;
    blocker.activity = row.activity.activity;
    blocker.vouched_until = row.vouched_until;
    return blocker;
}

std::string for_people(std::chrono::milliseconds age) {
    using namespace std::chrono;
    if (age >= days{2}) return fmt::format("{} days", duration_cast<days>(age).count());
    if (age >= hours{2}) return fmt::format("{} h", duration_cast<hours>(age).count());
    if (age >= minutes{2}) return fmt::format("{} min", duration_cast<minutes>(age).count());
    return fmt::format("{} s", duration_cast<seconds>(age).count());
}

}  // namespace

std::vector<Blocker> blockers_by_policy(const SessionId& session_id, const ResetPolicy& policy,
                                        const State& state) {
    std::vector<Blocker> blockers;
    for (const auto* process : state.processes().of(session_id)) {
        auto blocker = of(*process);
        const bool is_working = blocker.activity == ProcessActivity::working;
        if (is_working) blocker.until = blocker.started_at + policy.process_max_age;
        if (blocker.vouched_until) {
            blocker.until =
                std::max(blocker.until.value_or(*blocker.vouched_until), *blocker.vouched_until);
        }
        if (!blocker.until || *blocker.until <= state.time_for(*process)) continue;
        blockers.push_back(std::move(blocker));
    }
    return blockers;
}

std::vector<Blocker> blockers_of_person(const SessionId& session_id, const State& state) {
    std::vector<Blocker> blockers;
    for (const auto* process : state.processes().of(session_id)) {
        if (process->counts()) blockers.push_back(of(*process));
    }
    return blockers;
}

std::vector<Blocker> running_of(const SessionId& session_id, const State& state) {
    std::vector<Blocker> running;
    for (const auto* process : state.processes().of(session_id)) running.push_back(of(*process));
    return running;
}

std::optional<WallTime> first_let_go(const std::vector<Blocker>& blockers) {
    const auto first = std::ranges::min_element(blockers, {}, &Blocker::until);
    return first == blockers.end() ? std::nullopt : first->until;
}

std::optional<WallTime> last_let_go(const std::vector<Blocker>& blockers) {
    const auto last = std::ranges::max_element(blockers, {}, &Blocker::until);
    return last == blockers.end() ? std::nullopt : last->until;
}

std::string describe(const std::vector<Blocker>& blockers, WallTime now) {
    std::string text;
    for (const auto& blocker : blockers) {
        if (&blocker == blockers.data() + described_max) {
            return text + fmt::format(" and {} more", blockers.size() - described_max);
        }
        const auto age = std::max(now - blocker.started_at, std::chrono::milliseconds{0});
        text += fmt::format("{}{} (pid {}, {}, {}, started {} ago)", text.empty() ? "" : ", ",
                            blocker.process_id.text(), blocker.pid, blocker.command,
                            blocker.vouched_until
                                ? "vouched for until " + format_rfc3339(*blocker.vouched_until)
                                : std::string(name_in(process_activity_names, blocker.activity)),
                            for_people(age));
    }
    return text;
}

}  // namespace knell
