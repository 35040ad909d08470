#include "background/tree_stopper.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "watch/cached_tree.hpp"
#include "watch/leftovers.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// How soon, and at the slowest how often, it is looked whether something is left.
constexpr std::chrono::nanoseconds look_delay_min = 20ms;
constexpr std::chrono::nanoseconds look_delay_max = 500ms;
/// So often it is looked for more to hold still before all are killed.
constexpr int rounds_max = 20;
/// So often what was killed must have been found again before it counts as unkillable: on a busy
/// host its time may be over before it was given the processor to die.
constexpr int looks_killing_min = 8;
/// So many are named when some are left.
constexpr std::size_t named_max = 3;

/// "process 7 (sleep 9), process 8 (…)".
std::string names_of(const std::vector<ProcessIdentity>& found, const ProcessTree& tree) {
    std::string names;
    for (std::size_t i = 0; i < std::min(found.size(), named_max); ++i) {
        const auto pid = found[i].pid;
        names += fmt::format("{}process {}", i == 0 ? "" : ", ", pid);
        const auto stat = tree.stat(pid);
        if (!stat || stat->start_ticks != found[i].start_ticks)
            continue;  // that would be another's
        names += fmt::format(" ({})", readable_command(tree.command_line(pid)));
    }
    if (found.size() > named_max) names += fmt::format(" and {} more", found.size() - named_max);
    return names;
}

/// "process 7 (sleep 9): it owns an open session; process 8 (…): …".
std::string reasons_of(const std::vector<SparedProcess>& left, const ProcessTree& tree) {
    std::string reasons;
    for (std::size_t i = 0; i < std::min(left.size(), named_max); ++i) {
        reasons += fmt::format("{}{}: {}", i == 0 ? "" : "; ", names_of({left[i].process}, tree),
                               left[i].why);
    }
    if (left.size() > named_max) reasons += fmt::format("; and {} more", left.size() - named_max);
    return reasons;
}

}  // namespace

void TreeStopper::add(TreeRoot root, SteadyTime now) {
    if (is_stopping(root.process)) return;
    jobs_.push_back({.root = std::move(root), .until = now + Stopper::term_grace});
}

bool TreeStopper::is_stopping(const ProcessIdentity& process) const {
    return std::ranges::any_of(jobs_, [&](const Job& job) { return job.root.process == process; });
}

std::vector<TreeStopper::Stopped> TreeStopper::step(SteadyTime now) {
    std::vector<Stopped> done;
    const CachedTree look(tree_);  // one for all that is looked for now
    std::erase_if(jobs_, [&](Job& job) {
        const bool is_due = now >= job.next_look || (now >= job.until && !job.is_killing);
        if (!is_due) return false;
        const auto fate = advance(job, look, now);
        if (fate) done.push_back({std::move(job.root), *fate, std::move(job.left)});
        return fate.has_value();
    });
    return done;
}

std::optional<Fate> TreeStopper::advance(Job& job, const ProcessTree& look, SteadyTime now) const {
    job.delay = std::clamp(job.delay * 2, look_delay_min, look_delay_max);
    job.next_look = now + job.delay;
    const auto found = find_tree(job.root, look, bounds_);
    if (found.empty()) {
        if (auto left = left_unfound(job.root, look); !left.empty()) {
            if (now < job.until) return std::nullopt;  // it may yet end with the rest
            job.left = std::move(left);
            return Fate::left;
        }
        if (job.was_killed) return Fate::killed;
        return job.asked.empty() ? Fate::gone : Fate::stopped;
    }
    const bool is_over = now >= job.until;
    if (job.is_killing) ++job.looks_killing;
    if (is_over && job.looks_killing >= looks_killing_min) {
        job.left = why_still_there(job, found);
        return Fate::left;
    }
    if (is_over && !job.is_killing) {
        job.is_killing = true;
        job.until = now + Stopper::kill_grace;
        job.delay = look_delay_min;
    }
    const bool may_go_on = job.is_killing ? kill_all(job) : ask_all(job, found);
    if (may_go_on) return std::nullopt;
    job.left = names_of(found, tree_) + (found.size() == 1
                                             ? ": it, or something below it, owns an open session"
                                             : ": they, or what is below them, own open sessions");
    return Fate::left;
}

/// Those that may not be signalled, each with whose it is, then the others.
std::string TreeStopper::why_still_there(const Job& job,
                                         const std::vector<ProcessIdentity>& found) const {
    std::vector<SparedProcess> forbidden;
    std::vector<ProcessIdentity> others;
    for (const auto& process : found) {
        const auto refused = job.forbidden.find(key_of(process));
        if (refused == job.forbidden.end()) {
            others.push_back(process);
            continue;
        }
        const auto uid = refused->second;
        forbidden.push_back(
            {process, uid ? fmt::format("belongs to uid {}, which this daemon may not signal", *uid)
                          : "belongs to somebody whom this daemon may not signal"});
    }
    auto why = reasons_of(forbidden, tree_);
    if (others.empty()) return why;
    if (!why.empty()) why += "; ";
    return why + names_of(others, tree_) +
           (job.was_killed ? ": still there after SIGKILL"
                           : ": cannot be held, and so not be signalled, from here");
}

std::string TreeStopper::left_unfound(const TreeRoot& root, const ProcessTree& look) const {
    const auto spared = find_spared(root, look, bounds_);
    if (!spared.empty()) return reasons_of(spared, tree_);
    // What cannot be seen from here is not found, and may well run.
    const auto held = holder_.hold(root.process);
    const bool runs = held ? !(*held)->has_ended() : held.error() == NotHeld::unreachable;
    return runs ? why_not_seen(root.process) : "";
}

std::string TreeStopper::why_not_seen(const ProcessIdentity& process) const {
    if (process.pid_namespace != tree_.pid_namespace()) {
        // Its number is somebody else's here, and so would be the command.
        return fmt::format("process {}: it is in a pid namespace that is not the daemon's",
                           process.pid);
    }
    return names_of({process}, tree_) +
           ": it cannot be looked at from here, and so not be proven to be the one on record";
}

bool TreeStopper::ask_all(Job& job, const std::vector<ProcessIdentity>& found) const {
    bool may_go_on = false;
    for (const auto& process : found) {
        if (job.asked.contains(key_of(process))) {
            may_go_on = true;
            continue;
        }
        // One that is stopped would hear of it only when it goes on.
        const auto sent = send(job, process, {SIGTERM, SIGCONT});
        if (sent == Sent::sent) job.asked.insert(key_of(process));
        may_go_on = may_go_on || sent != Sent::spared;
    }
    return may_go_on;
}

bool TreeStopper::kill_all(Job& job) const {
    std::set<Key> still;
    std::vector<ProcessIdentity> found;
    for (int round = 0; round < rounds_max; ++round) {
        const CachedTree look(tree_);
        found = find_tree(job.root, look, bounds_);
        bool has_more = false;
        for (const auto& process : found) {
            if (still.contains(key_of(process))) continue;
            if (send(job, process, {SIGSTOP}) != Sent::sent) continue;
            still.insert(key_of(process));
            has_more = true;
        }
        if (!has_more) break;
    }
    bool may_go_on = found.empty();
    for (const auto& process : found) {
        const auto sent = send(job, process, {SIGKILL});
        if (sent == Sent::sent) job.was_killed = true;
        // It became somebody's owner just now.
        if (sent == Sent::spared && still.contains(key_of(process))) {
            if (const auto held = holder_.hold(process)) (*held)->signal(SIGCONT);
        }
        may_go_on = may_go_on || sent != Sent::spared;
    }
    return may_go_on;
}

TreeStopper::Sent TreeStopper::send(Job& job, const ProcessIdentity& process,
                                    std::initializer_list<int> signals) const {
    const auto held = holder_.hold(process);
    if (!held) return held.error() == NotHeld::gone ? Sent::gone : Sent::unreachable;
    if ((*held)->has_ended()) return Sent::gone;
    if (holder_.is_spared(process)) return Sent::spared;
    for (const auto number : signals) {
        const int error = (*held)->signal(number);
        if (error == ESRCH) return Sent::gone;
        if (error == EPERM) {
            const auto uid = (*held)->uid();
            // Its environment cannot be read either: once what started it is gone, nothing else
            // would show that it belonged to it.
            if (job.forbidden.insert_or_assign(key_of(process), uid).second) {
                job.root.seen.push_back(process);
            }
            return Sent::forbidden;
        }
        if (error != 0) return Sent::unreachable;
    }
    job.forbidden.erase(key_of(process));
    return Sent::sent;
}

}  // namespace knell
