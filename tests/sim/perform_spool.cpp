// What `knell run` writes down when it reaches no daemon, and the daemon's taking it in.

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

constexpr auto look_period = 30s;

Close close_of(const SpooledRun& run, const Host::Process& command, WallTime at) {
    return {.session_id = run.create.draft.id,
            .generation = {},
            .reason = reason_for(command.went, /*is_command=*/true),
            .detail = "its wrapper wrote so",
            .said_by = "knell run",
            .at = at,
            .leftovers = {}};
}

}  // namespace

/// Mostly one of its own; now and then one that somebody else has, or had.
SessionId World::id_for_run(const Action& action) {
    if (action.which % 4 == 0 && !ids_.empty()) {
        const auto& taken = ids_[action.which / 4 % ids_.size()];
        if (!ledger_.runs.contains(taken)) return SessionId(taken);
    }
    ids_.push_back(fmt::format("s{}", ++last_id_));
    return SessionId(ids_.back());
}

/// A run writes that it begins; now and then its file has lost its first line.
void World::spool_start(const Action& action) {
    SpooledRun run;
    run.create.draft.id = id_for_run(action);
    run.create.draft.source = "cli";
    run.create.draft.owner.process = host_.start();
    host_.find(run.create.draft.owner.process)->is_private = true;
    run.create.draft.owner.host = "simulated";
    run.create.draft.leftovers = LeftoversPolicy::report;
    run.create.at = host_.readings().wall;
    const auto& id = run.create.draft.id.text();
    say("  of session " + id);
    run.is_broken = action.how % 8 == 0;
    if (run.is_broken) {
        Close close{.session_id = run.create.draft.id, .at = run.create.at, .leftovers = {}};
        spool_.append(id, {std::move(close)});
    } else if (action.how % 8 < 5) {
        spool_.append(id, {run.create});
    } else {
        run.has_written = false;  // until it is over
    }
    ledger_.conversations.note_asked(Command{run.create}, host_.elapsed());
    ledger_.runs.emplace(id, std::move(run));
}

/// A run ends, and writes its whole life: it cannot know whether its first line was taken in.
void World::spool_end(const Action& action) {
    std::vector<SpooledRun*> runs;
    for (auto& [id, run] : ledger_.runs) {
        if (!run.is_over && !run.is_broken && !spool_.is_locked(id)) runs.push_back(&run);
    }
    if (runs.empty()) return;
    auto& run = *runs[action.which % runs.size()];
    const auto& id = run.create.draft.id.text();
    auto* command = host_.find(run.create.draft.owner.process);
    if (command->alive) {
        end_process(command, action,
                    {.kind = Departure::Kind::exited, .number = action.how % 2 == 0 ? 0 : 3});
    }
    // With the host its wrapper went, too.
    if (command->identity.boot_id != host_.boot_id()) return;
    if (command->went.kind != Departure::Kind::exited) return;
    say("  of session " + id);
    auto close = close_of(run, *command, host_.readings().wall);
    ledger_.note_intent(close);
    spool_.append(id, {run.create, std::move(close)});
    run.is_over = run.has_written = true;
}

std::vector<World::Spoken> World::take_from_spool() {
    if (host_.elapsed() - spool_looked_at_ >= look_period) {
        spool_looked_at_ = host_.elapsed();
        spool_.look();
    }
    std::vector<std::string> delivered;
    std::vector<Spoken> spoken;
    for (auto& call : spool_.take_calls(delivered)) {
        spoken.push_back(heard_now(std::move(call.command), /*observed=*/false));
        spoken.back().from_spool = std::move(call.name);
    }
    check_taken_in(delivered);
    return spoken;
}

void World::check_taken_in(const std::vector<std::string>& delivered) {
    for (const auto& name : delivered) {
        say(fmt::format("  the file of {} is deleted", name));
        auto seen = scene();
        seen.run = &ledger_.runs.at(name);
        check(Moment::taken_in, seen);
    }
}

}  // namespace knell::sim
