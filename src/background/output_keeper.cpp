#include "background/output_keeper.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include <sys/inotify.h>
#include <unistd.h>

#include "core/limits.hpp"

namespace knell {

namespace {

/// Also of a file that the kernel tells of: should it ever fail to, the disk does not fill.
constexpr std::chrono::seconds told_look{30};
constexpr std::size_t looks_a_step_max = 1000;

}  // namespace

int OutputKeeper::ask_system() {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

OutputKeeper::OutputKeeper(OutputFiles& files, std::chrono::nanoseconds kept_after_end, Ask ask)
    : files_(files),
      kept_after_end_(kept_after_end),
      inotify_(ask()),
      is_told_(inotify_ && inotify_add_watch(inotify_.get(), files.folder().c_str(),
                                             IN_MODIFY | IN_ONLYDIR) >= 0),
      bytes_max_(limits::process_output_bytes_default) {}

void OutputKeeper::schedule(Entries::iterator at, SteadyTime when) {
    looks_.erase({at->second.next_look, at->first});
    at->second.next_look = when;
    looks_.emplace(when, at->first);
}

void OutputKeeper::add(const ProcessId& id, SteadyTime now) {
    const auto [at, is_new] = entries_.try_emplace(id);
    if (is_new) schedule(at, now);
}

void OutputKeeper::ended(const ProcessId& id, SteadyTime when, SteadyTime now) {
    auto at = entries_.find(id);
    if (at == entries_.end()) {
        if (!files_.trim(id, bytes_max_)) return;  // it has none
        add(id, now);
        at = entries_.find(id);
    }
    auto& entry = at->second;
    if (entry.expires_at) return;
    entry.expires_at = when + kept_after_end_;
    expiries_.emplace(*entry.expires_at, id);
    schedule(at, now);  // what it wrote last counts too
}

int OutputKeeper::descriptor(SteadyTime now) const {
    return is_told_ && now >= quiet_until_ ? inotify_.get() : -1;
}

std::optional<SteadyTime> OutputKeeper::next_step() const {
    std::optional<SteadyTime> next;
    const auto no_later_than = [&](SteadyTime time) { next = std::min(next.value_or(time), time); };
    if (!looks_.empty()) no_later_than(looks_.begin()->first);
    if (!expiries_.empty()) no_later_than(expiries_.begin()->first);
    if (is_told_ && quiet_until_ != SteadyTime{} && !entries_.empty()) no_later_than(quiet_until_);
    return next;
}

void OutputKeeper::step(SteadyTime now) {
    if (is_told_) take_events(now);
    std::vector<ProcessId> due;
    for (const auto& [when, id] : looks_) {
        if (when > now || due.size() == looks_a_step_max) break;
        due.push_back(id);
    }
    for (const auto& id : due) look(entries_.find(id), now);
    remove_expired(now);
}

void OutputKeeper::take_events(SteadyTime now) {
    if (now < quiet_until_) return;
    quiet_until_ = {};
    alignas(inotify_event) std::array<char, 64U << 10U> buffer;
    const auto got = read(inotify_.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    // One that is written to without end would be told of without end.
    quiet_until_ = now + flood_look;
    const auto is_due = [&](Entries::iterator at) {
        const auto soonest = std::max(now, at->second.last_look + flood_look);
        if (soonest < at->second.next_look) schedule(at, soonest);
    };
    for (std::size_t place = 0; place < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + place, sizeof event);
        std::string_view name = event.len > 0 ? buffer.data() + place + sizeof event : "";
        place += sizeof event + event.len;
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            for (auto at = entries_.begin(); at != entries_.end(); ++at) is_due(at);
        }
        name = name.substr(0, name.rfind('.'));
        const auto at = entries_.find(ProcessId(std::string(name)));
        if (at != entries_.end()) is_due(at);
    }
}

void OutputKeeper::look(Entries::iterator at, SteadyTime now) {
    auto& entry = at->second;
    const auto size = files_.trim(at->first, bytes_max_);
    const auto grown = size ? size->end - entry.end : 0;
    entry.last_look = now;
    if (size) entry.end = size->end;
    if (grown > bytes_max_ / 4) {
        entry.period = flood_look;
    } else if (grown > 0) {
        entry.period = look_min;
    } else {
        entry.period = std::min<std::chrono::nanoseconds>(entry.period * 2, look_max);
    }
    const bool waits_to_be_told = is_told_ && size && grown <= bytes_max_ / 4;
    schedule(at, now + (waits_to_be_told ? told_look : entry.period));
}

void OutputKeeper::remove(Entries::iterator at) {
    files_.remove(at->first);
    looks_.erase({at->second.next_look, at->first});
    if (at->second.expires_at) expiries_.erase({*at->second.expires_at, at->first});
    entries_.erase(at);
}

void OutputKeeper::remove_expired(SteadyTime now) {
    while (!expiries_.empty()) {
        const auto [when, id] = *expiries_.begin();
        if (when > now && expiries_.size() <= ended_max) return;
        const auto at = entries_.find(id);
        // Removed, it would grow where nobody can see it, nor cut it.
        if (!files_.is_written(id)) {
            remove(at);
            continue;
        }
        expiries_.erase(expiries_.begin());
        at->second.expires_at = std::max(when, now) + written_look;
        expiries_.emplace(*at->second.expires_at, id);
        if (when > now) return;
    }
}

}  // namespace knell
