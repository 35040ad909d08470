// What is said while a command's end was seen and is not on record yet.

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

/// The one word that counts: of the command's parent, which waited for it, and tells the truth.
void World::speak_for_wrapper(const Action& action, const SessionId& id, const Life& life) {
    const auto* command = host_.find(life.owner.process);
    if (command == nullptr || command->alive || !host_.is_alive(life.wrapper)) return;
    Close close{.session_id = id,
                .generation = generation_of(id.text(), /*wrong=*/false),
                .reason = reason_for(command->went, /*is_command=*/true),
                .detail = detail_for(command->went),
                .said_by = "its wrapper",
                .at = {},
                .leftovers = {}};
    close.caller = life.wrapper;
    close.is_over = true;
    send(action, std::move(close));
}

/// A command ends and is seen to; while what it left behind is looked for, others have a say.
void World::outspeak_death(const Action& action) {
    std::vector<std::pair<std::string, const Life*>> commands;
    for (const auto& [id, known] : ledger_.sessions()) {
        const auto* life = known.open ? ledger_.life(SessionId(id), known.generation) : nullptr;
        if (life == nullptr || life->owner.kind != OwnerKind::process) continue;
        if (host_.is_alive(life->owner.process)) commands.emplace_back(id, life);
    }
    if (commands.empty() || !node_.is_up()) return;
    const auto& [id, life] = commands[action.which % commands.size()];
    node_.stall_leftovers(std::chrono::milliseconds{action.how % 2000 + 100});
    end_process(host_.find(life->owner.process), action,
                {.kind = action.how % 2 == 0 ? Departure::Kind::exited : Departure::Kind::signaled,
                 .number = action.how % 2 == 0 ? 3 : 9});
    // Now and then the death and the words come together.
    if (action.how / 2 % 4 != 0) run_for(50ms);
    if (broken_) return;
    const auto asks = [&](Kind kind) {
        return Action{kind, action.which, action.how, action.fate};
    };
    const SessionId session(id);
    const auto generation = generation_of(id, /*wrong=*/false);
    switch (action.how / 8 % 6) {
        case 0:
            return send(
                action,
                Close{session, generation, Reason::manual_reset, "said so", "a client", {}, {}});
        case 1:
            return send(action,
                        Close{session, {}, Reason::owner_lost, "said so", "a client", {}, {}});
        case 2:
        case 3:
            return send(action, Resume{.session_id = session,
                                       .owner = pick_owner(asks(Kind::resume)),
                                       .takeover = action.how / 8 % 6 == 2,
                                       .said_by = "a client"});
        case 4:
            return send(action, Turn{session, generation, /*on=*/true});
        default:
            return speak_for_wrapper(action, session, *life);
    }
}

}  // namespace knell::sim
