// What happens to background processes, and what is asked about them.

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

BackgroundProcess draft_of(const ProcessId& id, const std::string& session,
                           const Host::Process& process, ProcessOrigin origin) {
    BackgroundProcess draft;
    draft.id = id;
    draft.session_id = SessionId(session);
    draft.origin = origin;
    draft.process = process.identity;
    draft.argv = {"simulated"};
    draft.cwd = "/srv";
    return draft;
}

}  // namespace

Host::Process* World::pick_background(std::uint32_t which) {
    std::vector<Host::Process*> alive;
    for (auto& process : host_.processes()) {
        const bool is_one = !process.process_id.empty() || ledger_.running_as(process.identity);
        if (process.alive && is_one && process.gate != Host::Gate::waits) alive.push_back(&process);
    }
    return alive.empty() ? nullptr : alive[which % alive.size()];
}

const KnownProcess* World::pick_known(std::uint32_t which, ProcessId& id) const {
    std::vector<std::pair<const std::string*, const KnownProcess*>> all;
    for (const auto& [name, known] : ledger_.processes()) {
        if (known.running || which % 5 == 0) all.emplace_back(&name, &known);
    }
    if (all.empty()) return nullptr;
    const auto& [name, known] = all[which / 5 % all.size()];
    id = ProcessId(*name);
    return known;
}

/// Any session, or one that has some already, so that it gets full, or one that only they keep.
std::string World::pick_home(const Action& action) const {
    std::vector<std::string> homes;
    const auto kind = action.how / 36 % 4;
    for (const auto& [id, known] : ledger_.sessions()) {
        const auto* life = known.open ? ledger_.life(SessionId(id), known.generation) : nullptr;
        if (life == nullptr) continue;
        const bool is_one = kind == 0   ? ledger_.running_of(SessionId(id)) > 0
                            : kind == 1 ? life->owner.kind == OwnerKind::hosted
                                        : false;
        if (is_one) homes.push_back(id);
    }
    return homes.empty() ? pick_session(action.which) : homes[action.which % homes.size()];
}

/// The daemon forks a child that waits, and asks to have it written down.
Host::Process* World::fork_for(const std::string& session, const Action& action) {
    const auto id = ProcessId::from_bits(seed_ * 1'000'003 + ++last_process_);
    auto* child = node_.background().fork(id);
    if (child == nullptr) return nullptr;
    child->started_by = session;
    child->started_in = generation_of(session, /*wrong=*/false);
    child->fails_to_execute = action.how % 9 == 0;
    child->ignores_term = action.how / 9 % 4 == 0;
    say(fmt::format("  {} of session {}: process {} waits", id.text(), session,
                    child->identity.pid));
    RecordProcess record;
    record.draft = draft_of(id, session, *child, ProcessOrigin::started);
    record.per_session_max = Background::per_session_max;
    record.node_max = Background::node_max;
    const auto late = std::chrono::milliseconds{action.fate / 64 % 4 == 0 ? action.fate % 2000 : 0};
    requests_.push_back({host_.elapsed() + late, std::move(record), 1, false});
    return child;
}

/// It is written down and let go.  The daemon may be killed at each of these steps.
void World::start_background(const Action& action) {
    if (!node_.is_up()) return;
    const auto session = pick_home(action);
    // As many as it may have, and one more.
    const auto before = action.how / 144 % 8 == 0 ? Background::per_session_max : 0;
    for (std::size_t i = 0; i < before; ++i) fork_for(session, action);
    auto* child = fork_for(session, action);
    if (child == nullptr) return;
    switch (action.fate % 16) {
        case 0:  // before it is asked for
            return crash_daemon();
        case 1:  // before it is decided
            hear();
            return crash_daemon();
        case 2:  // it is on record, and waits
        case 3:
        case 4:
            dies_after_ = action.fate % 16 - 2;
            return;
        case 5:  // somebody kills it while it waits
            return end_process(child, action,
                               {.kind = Departure::Kind::signaled, .number = SIGKILL});
        default:
            return;
    }
}

void World::execute(Host::Process& process) {
    auto seen = scene();
    seen.executes = &process;
    check(Moment::execute, seen);
    process.gate = Host::Gate::open;
    if (process.fails_to_execute) {
        say(fmt::format("  process {} cannot execute its program", process.identity.pid));
        host_.end(process, {.kind = Departure::Kind::exited, .number = 127},
                  /*is_waited_for=*/false);
        ledger_.note_death(process.identity);
        return;
    }
    say(fmt::format("  process {} executes its program", process.identity.pid));
    ++process.executed;
    process.active_since = host_.elapsed();
}

void World::register_process(const Action& action) {
    std::vector<const Host::Process*> alive;
    for (const auto& process : host_.processes()) {
        const bool is_knell = process.gate == Host::Gate::waits || process.identity == node_.self();
        if (process.alive && !is_knell) alive.push_back(&process);
    }
    if (alive.empty()) return;
    const auto& process = *alive[action.how % alive.size()];
    RecordProcess record;
    record.draft = draft_of(process_id_of(process.identity), pick_session(action.which), process,
                            ProcessOrigin::registered);
    record.per_session_max = Background::per_session_max;
    record.node_max = Background::node_max;
    say(fmt::format("  process {} is {}", process.identity.pid, record.draft.id.text()));
    send(action, std::move(record));
}

void World::fork_background(const Action& action) {
    const auto* parent = pick_background(action.which);
    if (parent == nullptr) return;
    const auto of = parent->identity;
    const bool hides = parent->hides_cookie;
    auto* child = host_.start_child(of);
    if (child == nullptr) return;
    child->hides_cookie = hides || action.how % 4 == 0;
    child->ignores_term = action.how / 4 % 4 == 0;
    if (action.how / 16 % 3 == 0) child->group = child->session = child->here;
    say(fmt::format("  process {} starts process {}", of.pid, child->identity.pid));
    // Daemonised: the parent goes.
    if (action.how / 64 % 3 == 0) {
        end_process(host_.find(of), action, {.kind = Departure::Kind::exited, .number = 0});
    }
}

bool World::perform_on_background(const Action& action) {
    ProcessId id;
    switch (action.kind) {
        case Kind::start_background:
            start_background(action);
            return true;
        case Kind::register_process:
            register_process(action);
            return true;
        case Kind::fork_background:
            fork_background(action);
            return true;
        case Kind::exit_background: {
            const bool by_itself = action.how % 2 == 0;
            end_process(pick_background(action.which), action,
                        {.kind = by_itself             ? Departure::Kind::exited
                                 : action.how % 3 == 0 ? Departure::Kind::oom_killed
                                                       : Departure::Kind::signaled,
                         .number = by_itself ? static_cast<int>(action.how / 2 % 4) : SIGKILL});
            return true;
        }
        case Kind::change_activity:
            if (auto* process = pick_background(action.which)) {
                const auto activity = static_cast<ProcessActivity>(action.how % 3);
                if (process->activity == activity) return true;
                say(fmt::format("  process {} is {}", process->identity.pid,
                                name_in(process_activity_names, activity)));
                process->activity = activity;
                process->active_since = host_.elapsed();
            }
            return true;
        case Kind::stop_background:
            if (pick_known(action.which, id) == nullptr) id = ProcessId("p-never-seen");
            say("  process " + id.text());
            send(action, StopProcess{id, "a client"});
            // Once that is on record, and before anything is signalled.
            if (action.how % 4 == 0) dies_after_ = action.how / 4 % 2;
            return true;
        case Kind::vouch: {
            if (pick_known(action.which, id) == nullptr) id = ProcessId("p-never-seen");
            auto time = std::chrono::milliseconds{action.how % 60'000 + 100};
            if (action.how / 64 % 4 == 0) time *= 5000;  // up to three and a half days
            if (action.how / 256 % 12 == 0) time = 8 * 24h;
            if (action.how / 256 % 12 == 1) time = -time;
            say(fmt::format("  process {}, for {} ms", id.text(), time.count()));
            send(action, VouchProcess{id, host_.readings().wall + time});
            return true;
        }
        case Kind::take_back_vouch:
            if (pick_known(action.which, id) == nullptr) id = ProcessId("p-never-seen");
            send(action, VouchProcess{id, {}});
            return true;
        default:
            return false;
    }
}

/// Which sessions are kept by work that is on record, as far as the disk can be read.
void World::note_held() {
    ledger_.note_clock(host_.readings().wall);
    if (ledger_.running() == 0) return;
    const auto page = node_.reader().processes({.limit = 1000});
    if (!page) return;
    for (const auto& [process, session] : page->processes) {
        if (counts_as_work(process, host_.readings().wall)) ledger_.note_held(process.session_id);
    }
}

/// The end of a run: nobody does anything any more, and only what runs out by itself is vouched
/// for.
void World::settle_background() {
    for (auto& process : host_.processes()) {
        if (!process.alive || process.activity != ProcessActivity::working) continue;
        process.activity = ProcessActivity::waiting;
        process.active_since = host_.elapsed();
    }
    for (const auto& [id, known] : ledger_.processes()) {
        const auto row = node_.reader().process(ProcessId(id));
        if (!known.running || !row || !*row) continue;
        const auto until = (*row)->process.vouched_until;
        if (!until || *until < host_.readings().wall + 120h) continue;
        requests_.push_back({host_.elapsed(), VouchProcess{ProcessId(id), {}}, 1, false});
    }
}

}  // namespace knell::sim
