// What happens to time, processes, the daemon and its disk.

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "world.hpp"
#include "writer/sweep.hpp"

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
                       perform_by_client(action) || perform_on_clients(action) ||
                       perform_on_background(action) || perform_on_conversation(action) ||
                       perform_on_tools(action) || perform_by_observer(action) ||
                       perform_on_daemon(action) || perform_on_subscriber(action) ||
                       perform_on_follower(action);
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
        case Kind::pass_days:
            host_.suspend(amount * 150'000 + 1h);  // up to two days
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

void World::end_some_process(const Action& action, Departure departure) {
    end_process(pick(host_, action.which, [](const Host::Process& p) { return p.alive; }), action,
                std::move(departure));
}

void World::end_process(Host::Process* process, const Action& action, Departure departure) {
    if (process == nullptr || process->identity == node_.self()) return;
    say(fmt::format("  process {}", process->identity.pid));
    departure.evidence = "seen to end";
    // The daemon waits for its own children when their exit is on record.
    const bool is_our_child = node_.is_up() && process->started_from == node_.self();
    host_.end(*process, std::move(departure),
              /*is_waited_for=*/action.fate % 3 != 0 && !is_our_child);
    ledger_.note_death(process->identity);
    if (!node_.is_up()) return;
    const std::chrono::milliseconds late{action.fate % 3000};
    if (action.fate % 4 == 0) node_.stall_watch(late);
    if (action.fate / 4 % 4 == 0) node_.background().stall_until(host_.elapsed() + late);
    if (action.fate % 5 == 0) node_.stutter();
    if (action.fate / 8 % 5 == 0) node_.background().stutter();
}

/// A command starts something that may outlive it.
void World::leave_process(const Action& action) {
    std::vector<std::pair<std::string, Generation>> commands;
    for (const auto& [id, known] : ledger_.sessions()) {
        const auto* life = known.open ? ledger_.life(SessionId(id), known.generation) : nullptr;
        if (life == nullptr || life->leftovers == LeftoversPolicy::none) continue;
        if (host_.is_alive(life->owner.process)) commands.emplace_back(id, known.generation);
    }
    if (commands.empty()) return;
    const auto& [id, generation] = commands[action.which % commands.size()];
    const auto owner = ledger_.life(SessionId(id), generation)->owner.process;
    auto* process = host_.start_child(owner);
    if (process == nullptr) return;
    process->started_by = id;
    process->started_in = generation;
    process->process_id.clear();  // `knell run` is none of its own
    process->hides_cookie = action.how % 4 == 0;
    process->ignores_term = action.how / 4 % 3 == 0;
    process->serves = action.how / 16 % 4 == 0;
    if (process->serves || action.fate % 3 == 0) {
        process->group = process->session = process->here;
    }
    say(fmt::format("  {} starts process {}", id, process->identity.pid));
    if (action.fate / 3 % 2 == 0) {
        end_process(host_.find(owner), action, {.kind = Departure::Kind::exited, .number = 0});
    }
}

void World::signal_process(const ProcessIdentity& identity, int number) {
    auto* process = host_.find(identity);
    say(fmt::format("  process {} is sent signal {}", identity.pid, number));
    auto seen = scene();
    seen.signalled = process;
    check(Moment::signal, seen);
    if (process == nullptr || !process->alive) return;
    if (number != SIGKILL && (number != SIGTERM || process->ignores_term)) return;
    host_.end(*process, {.kind = Departure::Kind::signaled, .number = number},
              /*is_waited_for=*/process->started_from != node_.self());
    ledger_.note_death(identity);
}

bool World::perform_on_process(const Action& action) {
    const auto is_gone = [](const Host::Process& p) { return !p.alive; };
    const auto is_alive = [](const Host::Process& p) { return p.alive; };
    switch (action.kind) {
        case Kind::start_process:
            host_.start();
            return true;
        case Kind::start_inside:
            host_.start_inside();
            return true;
        case Kind::hide_inside:
            host_.can_see_inside = action.how % 3 == 0;
            return true;
        case Kind::exit_process:
            end_some_process(
                action, {.kind = Departure::Kind::exited, .number = action.how % 3 != 0 ? 0 : 3});
            return true;
        case Kind::kill_process:
            end_some_process(action, {.kind = action.how % 2 == 0 ? Departure::Kind::oom_killed
                                                                  : Departure::Kind::signaled,
                                      .number = SIGKILL});
            return true;
        case Kind::reuse_pid:
            // By value: the table of processes grows.
            if (const auto* gone = pick(host_, action.which, is_gone)) {
                const auto* stranger = host_.reuse_pid(Host::Process(*gone));
                // With a child in the group that has this number now.
                if (stranger != nullptr && action.how % 2 == 0) {
                    host_.start_child(ProcessIdentity(stranger->identity));
                }
            }
            return true;
        case Kind::outspeak_death:
            outspeak_death(action);
            return true;
        case Kind::leave_process:
            leave_process(action);
            return true;
        case Kind::hide_process:
            if (auto* process = pick(host_, action.which, is_alive)) {
                process->readable = false;
                process->was_hidden = true;
            }
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
    const auto is_held = [this](const ProcessIdentity& process) {
        return node_.watching().how(process) == WatchList::How::held;
    };
    const auto& survey = std::get<SurveyReply>(*replies.front());
    for (const auto& process : look_at_owners(survey, host_, is_held, false).look_again) {
        node_.watch(process);
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
            for (std::uint32_t i = 0; i <= action.how % 3; ++i) {
                node_.tell_later(OwnerGone{gone->identity, departure, {}, false}, i * 1s);
            }
            return true;
        }
        case Kind::take_descriptors:
            host_.descriptors = action.how % 4;
            host_.can_read = action.which % 3 != 0;
            return true;
        case Kind::give_descriptors:
            host_.descriptors = SIZE_MAX;
            host_.can_read = true;
            return true;
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
        case Kind::crash_halfway:
            dies_after_ = action.how % 4;
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
