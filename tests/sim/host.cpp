#include "host.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace knell::sim {

namespace {
constexpr pid_t pids_max = 140;  // few, so that they are used again
constexpr std::ptrdiff_t children_max = 12;
constexpr std::ptrdiff_t gated_max = 10;
}  // namespace

void Host::pass(Duration time) {
    readings_.wall += std::chrono::duration_cast<std::chrono::milliseconds>(time);
    readings_.awake += time;
    readings_.boot += time;
    elapsed_ += time;
}

void Host::suspend(Duration time) {
    readings_.wall += std::chrono::duration_cast<std::chrono::milliseconds>(time);
    readings_.boot += time;
    elapsed_ += time;
}

WallTime Host::shown_at(Duration elapsed, Ahead ahead) {
    return began_at + std::chrono::duration_cast<std::chrono::milliseconds>(elapsed) + ahead;
}

std::vector<Host::Ahead> Host::clocks_between(Duration from, Duration to) const {
    Ahead ahead{0};
    std::vector<Ahead> clocks;
    for (const auto& set : clock_sets_) {
        if (set.at > to) break;
        if (set.at >= from) clocks.push_back(ahead);
        ahead += set.by;
    }
    clocks.push_back(ahead);
    return clocks;
}

void Host::put(pid_t pid) {
    Process process;
    process.identity = {.pid = pid,
                        .start_ticks = ++last_ticks_,
                        .pid_namespace = own_pid_namespace(),
                        .boot_id = boot_id_};
    process.here = process.group = process.session = pid;
    processes_.push_back(std::move(process));
}

const ProcessIdentity& Host::start() {
    do {
        last_pid_ = last_pid_ >= pids_max ? 101 : last_pid_ + 1;
    } while (holder_of(last_pid_) != nullptr && processes_.size() < 10'000);
    put(last_pid_);
    return processes_.back().identity;
}

void Host::start_inside() {
    start();
    auto& process = processes_.back();
    const auto same = std::ranges::find_if(processes_, &Process::alive);
    process.identity.pid = same->here;
    process.identity.pid_namespace = 2;
}

Located Host::locate(const NamedPid& named, pid_t) const {
    if (named.pid_namespace == own_pid_namespace()) {
        return {.kind = Located::Kind::here, .pid = named.pid, .why = {}};
    }
    if (!can_see_inside) {
        return {.kind = Located::Kind::cannot_see, .pid = 0, .why = "another pid namespace"};
    }
    for (const auto& process : processes_) {
        const auto& identity = process.identity;
        const bool is_there = process.alive || !process.is_waited_for;
        if (is_there && identity.pid_namespace == named.pid_namespace &&
            identity.boot_id == boot_id_ && identity.pid == named.pid &&
            identity.start_ticks == named.start_ticks) {
            return {.kind = Located::Kind::here, .pid = process.here, .why = {}};
        }
    }
    return {.kind = Located::Kind::nobody, .pid = 0, .why = "nobody has that pid inside"};
}

Host::Process* Host::reuse_pid(const Process& gone) {
    const auto pid = gone.identity.pid;
    if (holder_of(pid) != nullptr) return nullptr;
    put(pid);
    return &processes_.back();
}

Host::Process* Host::start_child(const ProcessIdentity& parent) {
    const auto is_child = [](const Process& p) { return p.alive && p.parent != 1; };
    if (std::ranges::count_if(processes_, is_child) >= children_max) return nullptr;
    start();
    auto& child = processes_.back();
    const auto& of = *find(parent);
    child.parent = of.here;
    child.started_from = of.identity;
    child.group = of.group;
    child.session = of.session;
    child.process_id = of.process_id;
    child.started_by = of.started_by;
    child.started_in = of.started_in;
    return &child;
}

Host::Process* Host::start_at_gate(const ProcessIdentity& daemon) {
    const auto holds_a_pid = [](const Process& p) {
        return p.gate != Gate::none && (p.alive || !p.is_waited_for);
    };
    if (std::ranges::count_if(processes_, holds_a_pid) >= gated_max) return nullptr;
    start();
    auto& child = processes_.back();
    child.parent = find(daemon)->here;
    child.started_from = daemon;
    child.gate = Gate::waits;
    child.is_private = true;
    child.active_since = elapsed_;
    return &child;
}

void Host::end(Process& process, Departure departure, bool is_waited_for) {
    process.alive = false;
    process.is_waited_for = is_waited_for;
    process.went = std::move(departure);
    process.ended_at = elapsed_;
    for (auto& child : processes_) {
        if (child.alive && child.parent == process.here) child.parent = 1;
    }
}

void Host::restart() {
    readings_.awake = readings_.boot = SteadyTime{std::chrono::seconds{10}};
    for (auto& process : processes_) {
        if (process.alive) {
            end(process, {.kind = Departure::Kind::host_restart}, /*is_waited_for=*/true);
        }
        process.is_waited_for = true;
    }
    restarts_.push_back(elapsed_);
    boot_id_ = fmt::format("boot-{}", ++boots_);
    readings_.awake = readings_.boot = SteadyTime{std::chrono::seconds{10}};
    last_ticks_ = 1000;  // counted from the boot: the same ticks come again
}

Host::Process* Host::find(const ProcessIdentity& identity) {
    const auto found = std::ranges::find(processes_, identity, &Process::identity);
    return found == processes_.end() ? nullptr : &*found;
}

bool Host::is_alive(const ProcessIdentity& identity) const {
    const auto found = std::ranges::find(processes_, identity, &Process::identity);
    return found != processes_.end() && found->alive;
}

const Host::Process* Host::holder_of(pid_t pid) const {
    for (const auto& process : processes_ | std::views::reverse) {
        if (process.here != pid || process.identity.boot_id != boot_id_) continue;
        if (process.alive || !process.is_waited_for) return &process;
    }
    return nullptr;
}

std::optional<ProcessIdentity> Host::identify(pid_t pid) const {
    const auto* holder = holder_of(pid);
    if (holder == nullptr || !holder->alive) return std::nullopt;
    return holder->identity;
}

ProcessSnapshot Host::look_at(pid_t pid) const {
    const auto* holder = holder_of(pid);
    if (holder == nullptr) return {.nobody = true};
    ProcessSnapshot snapshot;
    if (!holder->readable || !can_read) {
        snapshot.why_unreadable = can_read ? "Permission denied" : "Too many open files";
        return snapshot;
    }
    snapshot.start_ticks = holder->identity.start_ticks;
    snapshot.has_ended = !holder->alive;
    return snapshot;
}

Departure Host::exit_of(const ProcessSnapshot&, const ProcessIdentity& process) const {
    auto departure = std::ranges::find(processes_, process, &Process::identity)->went;
    if (departure.evidence.empty()) departure.evidence = "seen among the processes";
    return departure;
}

}  // namespace knell::sim
