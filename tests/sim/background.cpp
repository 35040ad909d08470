#include "background.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace knell::sim {

namespace {
/// What is started while others are stopped is found by the next look; one that starts faster than
/// it can be stopped is left.
constexpr int stop_rounds_max = 4;
}  // namespace

Background::Background(Host& host, const ProcessIdentity& daemon, const LiveOwners& owners,
                       Tell tell)
    : host_(host),
      daemon_(daemon),
      tell_(std::move(tell)),
      tree_(host),
      holder_(host, tree_, owners, tell_.signal),
      stopper_(holder_),
      watching_(host, *this,
                WatchList::Tell{.gone = [this](const ProcessIdentity& process,
                                               const Departure& how) { tell_gone(process, how); },
                                // Nobody can see what it does: it goes on as it was.
                                .unknown = [](const ProcessIdentity&, const std::string&) {},
                                .alive = [](const ProcessIdentity&) {}},
                [this] { return host_.readings().boot; }) {}

Background::~Background() {
    for (auto& process : host_.processes()) {
        if (process.started_from != daemon_ || process.gate == Host::Gate::none) continue;
        if (process.alive && process.gate == Host::Gate::waits) {
            process.gate = Host::Gate::closed;
            host_.end(process, {.kind = Departure::Kind::exited, .number = 125},
                      /*is_waited_for=*/true);
        }
        process.is_waited_for = true;  // by init
    }
}

// --- gates --------------------------------------------------------------------------------------

Host::Process* Background::fork(const ProcessId& id) {
    auto* child = host_.start_at_gate(daemon_);
    if (child == nullptr) return nullptr;
    child->process_id = id.text();
    gates_[id] = child->identity;
    return child;
}

void Background::close_gate(const ProcessId& id) {
    const auto gate = gates_.find(id);
    if (gate == gates_.end()) return;
    auto& child = *host_.find(gate->second);
    gates_.erase(gate);
    if (!child.alive) {
        child.is_waited_for = true;
        return;
    }
    child.gate = Host::Gate::closed;
    host_.end(child, {.kind = Departure::Kind::exited, .number = 125}, /*is_waited_for=*/true);
}

void Background::carry_out(const OpenGate& effect) {
    const auto gate = gates_.find(effect.id);
    if (gate == gates_.end()) return;
    auto& child = *host_.find(gate->second);
    gates_.erase(gate);
    if (child.alive) tell_.execute(child);
}

// --- watching -----------------------------------------------------------------------------------

bool Background::hold(WatchList::Number number, const ProcessIdentity& process, Fd&&) {
    if (held_.size() >= host_.descriptors) return false;
    held_.emplace(number, process);
    return true;
}

void Background::carry_out(const WatchProcess& effect) {
    const auto& process = effect.process;
    sampled_[process.id] = {process.process, process.activity.activity,
                            process.stale_since.has_value()};
    watching_.watch(process.process, watching_.look(process.process));
}

void Background::carry_out(const UnwatchProcess& effect) {
    sampled_.erase(effect.id);
    watching_.unwatch(effect.process);
    auto* child = host_.find(effect.process);
    if (child != nullptr && child->started_from == daemon_ && !child->alive) {
        child->is_waited_for = true;
    }
}

void Background::tell_gone(const ProcessIdentity& process, Departure departure) {
    const auto* gone = host_.find(process);
    const bool is_ours = gone != nullptr && gone->started_from == daemon_;
    const bool failed = is_ours && gone->gate == Host::Gate::open && gone->executed == 0;
    ProcessGone word{process, std::move(departure),
                     failed ? "No such file or directory" : std::string()};
    words_.emplace_back(word);
    if (std::exchange(stutters_, false)) words_.emplace_back(std::move(word));
}

void Background::look() {
    if (host_.elapsed() < goes_on_at_) return;
    const auto before = host_.readings().boot;
    for (const auto& [number, process] : std::map(held_)) {
        const auto* held = host_.find(process);
        if (held->alive) continue;
        watching_.ended(number, [held](const ProcessIdentity&) {
            auto departure = held->went;
            departure.evidence = "seen through its pidfd";
            return departure;
        });
    }
    watching_.looked_at_held(before);
    watching_.look_again();
    watching_.check_invariants();
    sample();
}

/// Tells what changed, once.
void Background::sample() {
    for (auto& [id, sampled] : sampled_) {
        const auto* process = host_.find(sampled.process);
        if (process == nullptr || !process->alive || !process->readable) continue;
        const auto idle_for = host_.elapsed() - process->active_since;
        const bool works = process->activity == ProcessActivity::working;
        const bool stale = !works && idle_for >= stale_after;
        if (process->activity == sampled.activity && stale == sampled.stale) continue;
        sampled.activity = process->activity;
        sampled.stale = stale;
        const auto since =
            host_.readings().wall - std::chrono::duration_cast<std::chrono::milliseconds>(idle_for);
        words_.emplace_back(
            ProcessActive{id,
                          {process->activity, since,
                           fmt::format("so for {} s", idle_for.count() / 1'000'000'000)},
                          stale});
    }
}

// --- stopping -----------------------------------------------------------------------------------

std::vector<Leftover> Background::tree_of(const StopTree& what) const {
    const auto& root = what.process;
    if (root.boot_id != host_.boot_id()) return {};
    const auto cookie = fmt::format("KNELL_PROCESS_ID={}", what.id.text());
    std::set<pid_t> found;
    const auto* holder = host_.holder_of(root.pid);
    const bool is_there = holder != nullptr && holder->identity == root;
    for (const auto pid : tree_.pids()) {
        const auto stat = tree_.stat(pid);
        if (!stat || stat->start_ticks < root.start_ticks) continue;
        const auto environment = tree_.environment(pid).value_or("");
        const bool is_same = is_there && (pid == root.pid || stat->session == root.pid);
        if (is_same || environment.contains(cookie)) found.insert(pid);
    }
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto pid : std::set(found)) {
            const auto children = tree_.children(pid);
            for (const auto child : *children) grew |= found.insert(child).second;
        }
    }
    std::vector<Leftover> tree;
    for (const auto pid : found) {
        const auto* process = host_.holder_of(pid);
        if (process == nullptr || !process->alive) continue;
        tree.push_back({process->identity, "of a background process", "simulated", Fate::stopping});
        tree.back().process_id = what.id;
    }
    return tree;
}

void Background::stop_round(Stopping&& stopping) {
    auto tree = tree_of(stopping.what);
    if (tree.empty() || ++stopping.rounds > stop_rounds_max) return;
    const auto name = stopping.what.id.text();
    stopping_.insert_or_assign(name, std::move(stopping));
    stopper_.add({SessionId(name), 0, std::move(tree)}, host_.readings().awake);
}

void Background::carry_out(const StopTree& effect) {
    if (stopping_.contains(effect.id.text())) return;
    stop_round({effect, 0});
}

std::vector<Input> Background::step() {
    if (host_.elapsed() < goes_on_at_) return {};
    for (auto& order : stopper_.step(host_.readings().awake)) {
        auto stopping = stopping_.extract(order.session_id.text());
        stop_round(std::move(stopping.mapped()));
    }
    return std::exchange(words_, {});
}

}  // namespace knell::sim
