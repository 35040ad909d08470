#include "background.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace knell::sim {

Background::Background(Host& host, const ProcessIdentity& daemon, Tell tell)
    : host_(host),
      daemon_(daemon),
      tell_(std::move(tell)),
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
    if (watching_.counts().unclear == 0) proven_until_ = watching_.proven_until();
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

std::vector<Input> Background::step() {
    if (host_.elapsed() < goes_on_at_) return {};
    return std::exchange(words_, {});
}

}  // namespace knell::sim
