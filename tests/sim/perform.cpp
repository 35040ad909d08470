// What happens to time, processes, the daemon and its disk.

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "watch/process_check.hpp"
#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;
using testing::FaultyDisk;

/// The `which`-th of those that fit.
Host::Process* pick(Host& host, std::uint32_t which, bool (*fits)(const Host::Process&)) {
    std::vector<Host::Process*> fitting;
    for (auto& process : host.processes()) {
        if (fits(process)) fitting.push_back(&process);
    }
    return fitting.empty() ? nullptr : fitting[which % fitting.size()];
}

}  // namespace

void World::perform(const Action& action) {
    if (broken_) return;
    say(std::string(name_of(action.kind)));
    const bool known = perform_on_time(action) || perform_on_process(action) ||
                       perform_by_client(action) || perform_by_observer(action) ||
                       perform_on_daemon(action) || perform_on_subscriber(action);
    if (!known)
        broken_ = Broken{"the simulator knows every action", std::string(name_of(action.kind))};
    pump();
}

bool World::perform_on_time(const Action& action) {
    const auto amount = std::chrono::milliseconds{action.how % 1000};
    switch (action.kind) {
        case Kind::pass:
            run_for(amount + 10ms);
            return true;
        case Kind::pass_long:
            run_for(amount * 20 + 1s);
            return true;
        case Kind::stall:
            host_.pass(amount * 60 + 1s);
            return true;
        case Kind::suspend:
            host_.suspend(amount * 5000 + 5s);
            return true;
        case Kind::set_clock:
            host_.set_clock((action.which % 2 == 0 ? 1 : -1) * amount * 86'400);
            // Far ahead, as a dead battery or a typing mistake makes it.
            if (action.which % 4 == 0) host_.set_clock(std::chrono::days{40});
            return true;
        default:
            return false;
    }
}

void World::end_process(const Action& action, Departure departure) {
    auto* process = pick(host_, action.which, [](const Host::Process& p) { return p.alive; });
    if (process == nullptr || process->identity == node_.self()) return;
    say(fmt::format("  process {}", process->identity.pid));
    departure.evidence = "seen to end";
    host_.end(*process, std::move(departure), /*is_waited_for=*/action.fate % 3 != 0);
    ledger_.note_death(process->identity);
    const std::chrono::milliseconds late{action.fate % 4 == 0 ? action.fate % 3000 : 0};
    if (node_.is_up()) node_.see_end(*process, late, /*twice=*/action.fate % 5 == 0);
}

bool World::perform_on_process(const Action& action) {
    const auto is_gone = [](const Host::Process& p) { return !p.alive; };
    const auto is_alive = [](const Host::Process& p) { return p.alive; };
    switch (action.kind) {
        case Kind::start_process:
            host_.start();
            return true;
        case Kind::exit_process:
            end_process(action,
                        {.kind = Departure::Kind::exited, .number = action.how % 3 != 0 ? 0 : 3});
            return true;
        case Kind::kill_process:
            end_process(action, {.kind = action.how % 3 == 0 ? Departure::Kind::oom_killed
                                                             : Departure::Kind::signaled,
                                 .number = SIGKILL});
            return true;
        case Kind::reuse_pid:
            // By value: the table of processes grows.
            if (const auto* gone = pick(host_, action.which, is_gone)) {
                host_.reuse_pid(Host::Process(*gone));
            }
            return true;
        case Kind::hide_process:
            if (auto* process = pick(host_, action.which, is_alive)) process->readable = false;
            return true;
        case Kind::show_process:
            for (auto& process : host_.processes()) process.readable = true;
            return true;
        case Kind::reboot:
            cut_power(action.how);
            for (const auto& process : host_.processes()) {
                if (process.alive) ledger_.note_death(process.identity);
            }
            host_.restart();
            requests_.clear();
            return true;
        default:
            return false;
    }
}

// --- observers ----------------------------------------------------------------------------------

void World::sweep() {
    if (!node_.is_up()) return;
    std::vector<Spoken> words;
    words.push_back(heard_now(Survey{}, /*observed=*/false));
    const auto replies = decide(std::move(words));
    if (replies.empty() || !replies.front()) return;
    for (const auto& owner : std::get<SurveyReply>(*replies.front()).owners) {
        auto finding = look_for(owner.process, host_);
        if (auto* unclear = std::get_if<CannotTell>(&finding)) {
            node_.tell_later(OwnerUnknown{owner.process, unclear->why}, 0ns);
            continue;
        }
        node_.watch(owner.process);
        if (std::holds_alternative<StillThere>(finding) && owner.is_unknown) {
            node_.tell_later(OwnerAlive{owner.process}, 0ns);
        }
    }
    pump();
}

bool World::perform_by_observer(const Action& action) {
    switch (action.kind) {
        case Kind::sweep:
            sweep();
            return true;
        case Kind::second_reaper: {
            const auto* gone =
                pick(host_, action.which, [](const Host::Process& p) { return !p.alive; });
            if (gone == nullptr || !node_.is_up()) return true;
            if (gone->identity.boot_id != host_.boot_id()) return true;
            auto departure = gone->went;
            departure.kind = Departure::Kind::lost;
            departure.evidence = "another look found nobody";
            departure.seen_live = false;
            for (std::uint32_t i = 0; i <= action.how % 3; ++i) {
                node_.tell_later(OwnerGone{gone->identity, departure, {}, false}, i * 1s);
            }
            return true;
        }
        case Kind::doubt_owner: {
            const auto* process =
                pick(host_, action.which, [](const Host::Process& p) { return p.alive; });
            if (process != nullptr && node_.is_up()) {
                node_.tell_later(OwnerUnknown{process->identity, "it cannot be seen"}, 0ns);
            }
            return true;
        }
        default:
            return false;
    }
}

// --- the daemon and its disk --------------------------------------------------------------------

/// A silent lease, and daemons that live for a few seconds each.
void World::loop_crashes(const Action& action) {
    Create lease;
    lease.draft.id = SessionId(fmt::format("s{}", ++last_id_));
    lease.draft.source = "cli";
    lease.draft.owner = {.kind = OwnerKind::lease, .process = {}, .lease_ttl = 8s};
    ids_.push_back(lease.draft.id.text());
    requests_.push_back({host_.elapsed(), std::move(lease), 1, false});
    for (std::uint32_t i = 0; i < action.how % 12 + 4 && !broken_; ++i) {
        run_for(std::chrono::milliseconds{action.which % 3000 + 4000});
        if (node_.is_up()) crash_daemon();
        start_daemon();
    }
}

bool World::perform_on_daemon(const Action& action) {
    const auto operation = action.which % 40 + 1;
    const auto times = action.how % 12 + 1;
    switch (action.kind) {
        case Kind::crash:
            if (node_.is_up()) crash_daemon();
            return true;
        case Kind::crash_loop:
            loop_crashes(action);
            return true;
        case Kind::cut_power:
            if (node_.is_up()) cut_power(action.how);
            return true;
        case Kind::stop_daemon:
            stop_daemon();
            return true;
        case Kind::start_daemon:
            start_daemon();
            return true;
        case Kind::fail_disk:
            node_.break_disk(FaultyDisk::Fault::io_error, operation, times);
            return true;
        case Kind::fill_disk:
            node_.break_disk(FaultyDisk::Fault::full, operation, times);
            return true;
        case Kind::cut_power_soon:
            node_.break_disk(FaultyDisk::Fault::power_cut, operation, 1);
            return true;
        case Kind::slow_disk:
            node_.slow_down(std::chrono::milliseconds{action.how % 3000});
            return true;
        case Kind::heal_disk:
            node_.heal_disk();
            return true;
        default:
            return false;
    }
}

}  // namespace knell::sim
