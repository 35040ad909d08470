// What clients ask for, over a network that loses, delays, doubles and reorders.

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

constexpr int crowd = 24;  // more leases than may all fall due together by chance
constexpr int tries = 3;
/// What clients say of an end, whether they saw it or not.
constexpr std::array claims{Reason::completed, Reason::manual_reset, Reason::signaled,
                            Reason::owner_lost};

Close close_of(const std::string& id, std::optional<Generation> generation, std::uint32_t how) {
    return {.session_id = SessionId(id),
            .generation = generation,
            .reason = claims.at(how % claims.size()),
            .detail = "said so",
            .said_by = "a client",
            .at = {},
            .leftovers = {}};
}

}  // namespace

void World::send(const Action& action, Input input) {
    ledger_.note_intent(input);
    if (const auto* subject = subject_of(input)) say("  of session " + subject->text());
    Request request{host_.elapsed(), std::move(input), tries, false};
    const std::chrono::milliseconds late{action.fate % 4000};
    switch (action.fate / 4096 % 10) {
        case 0:  // lost on its way: asked again
            request.due += 2s;
            break;
        case 1:  // overtaken by others
            request.due += late;
            break;
        case 2:  // twice
            requests_.push_back(request);
            request.due += late / 8;
            break;
        case 3:  // the answer is lost, or never read
            request.reply_lost = true;
            break;
        default:
            break;
    }
    requests_.push_back(std::move(request));
}

std::string World::pick_session(std::uint32_t which) const {
    if (ids_.empty() || which % 17 == 0) return "never-seen";
    // The newer, the likelier.
    const auto back = std::min<std::size_t>(which / 17 % 8, ids_.size() - 1);
    return which % 5 == 0 ? ids_[which / 17 % ids_.size()] : ids_[ids_.size() - 1 - back];
}

Generation World::generation_of(const std::string& id, bool wrong) const {
    const auto* known = ledger_.find(SessionId(id));
    const auto generation = known == nullptr ? 1 : known->generation;
    if (!wrong) return generation;
    return generation > 1 && id.size() % 2 == 0 ? generation - 1 : generation + 1;
}

Owner World::pick_owner(const Action& action) {
    Owner owner;
    owner.host = action.how % 5 == 0 ? "elsewhere" : "simulated";
    owner.command = fmt::format("agent {}", action.which % 7);
    owner.lease_ttl = std::chrono::seconds{action.how / 64 % 26 + 5};
    switch (action.how % 8) {
        case 0:
        case 1:
            owner.kind = OwnerKind::lease;
            return owner;
        case 2:
        case 3:
        case 4:
        case 5:
            break;  // a process with a lease
        default:
            owner.lease_ttl = 0s;
    }
    if (action.which / 32 % 5 == 0 && node_.is_up()) {
        owner.process = node_.self();
        return owner;
    }
    std::vector<const Host::Process*> alive;
    for (const auto& process : host_.processes()) {
        const bool may_own = process.alive && !process.is_private;
        if (may_own && process.identity != node_.self()) alive.push_back(&process);
    }
    owner.process =
        alive.empty() ? host_.start() : alive[action.fate / 16 % alive.size()]->identity;
    return owner;
}

void World::create(const Action& action, std::optional<Close> and_close) {
    Create create;
    // Now and then one that is there already.
    const bool again = action.which % 6 == 0 && !ids_.empty();
    const auto id = again ? pick_session(action.which / 6) : fmt::format("s{}", ++last_id_);
    create.draft.id = SessionId(id);
    create.draft.source = "cli";
    create.draft.owner = pick_owner(action);
    create.draft.cwd = "/srv/" + id;
    if (action.fate % 3 != 0) create.draft.key = fmt::format("key {}", action.fate / 3 % 8);
    if (action.fate % 2 == 0) create.draft.title = create.draft.owner.command;
    if (action.which / 8 % 3 == 0) {
        create.draft.on_owner_loss = OnOwnerLoss::park;
        create.draft.park_window = std::chrono::seconds{action.which / 64 % 26 + 5};
    }
    if (action.which / 16 % 2 == 0) {
        create.draft.leftovers =
            action.which / 256 % 3 == 0 ? LeftoversPolicy::report : LeftoversPolicy::stop;
    }
    const bool is_command = create.draft.leftovers != LeftoversPolicy::none &&
                            create.draft.owner.kind == OwnerKind::process;
    if (is_command && action.which / 1024 % 2 == 0) {
        const auto wrapper = host_.start();
        host_.find(wrapper)->is_private = true;
        create.reaper = {wrapper.pid, wrapper.start_ticks};
        create.reaper_is_parent = true;
    }
    if (and_close) {
        and_close->session_id = create.draft.id;
        create.and_close = std::move(and_close);
    }
    if (!again) ids_.push_back(id);
    send(action, std::move(create));
}

void World::create_crowd(const Action& action) {
    for (int i = 0; i < crowd; ++i) {
        Create create;
        create.draft.id = SessionId(fmt::format("s{}", ++last_id_));
        create.draft.source = "cli";
        create.draft.owner.kind = OwnerKind::lease;
        create.draft.owner.lease_ttl = std::chrono::seconds{action.how % 10 + 5};
        create.draft.owner.host = "simulated";
        ids_.push_back(create.draft.id.text());
        requests_.push_back({host_.elapsed(), std::move(create), tries, false});
        if (i % 2 != 0) continue;
        requests_.push_back(
            {host_.elapsed() + 100ms, Turn{SessionId(ids_.back()), 1, /*on=*/true}, tries, false});
    }
}

void World::resume(const Action& action, bool takeover, bool and_close) {
    const auto id = pick_session(action.which);
    Resume resume{.session_id = SessionId(id),
                  .owner = pick_owner(action),
                  .takeover = takeover,
                  .said_by = "a client"};
    if (action.fate % 6 == 0) {
        resume.owner = hosted_owner(action);
    } else if (action.how / 8 % 3 == 0) {
        resume.on_owner_loss = OnOwnerLoss::park;
        resume.park_window = std::chrono::seconds{action.how / 64 % 26 + 5};
    }
    if (action.how % 3 == 0) resume.title = resume.owner.command;
    if (action.how % 3 == 1) resume.title = fmt::format("name {}", action.how % 4);
    if (action.which % 2 == 0) resume.cwd = fmt::format("/srv/{}", action.how % 5);
    if (and_close) resume.and_close = close_of(id, std::nullopt, action.how);
    send(action, std::move(resume));
}

void World::write(const Action& action) {
    const auto id = pick_session(action.which);
    const SessionId session(id);
    const bool wrong = action.kind == Kind::append_wrong || action.kind == Kind::close_wrong ||
                       action.kind == Kind::turn_wrong || action.kind == Kind::beat_wrong;
    const auto generation = generation_of(id, wrong);
    switch (action.kind) {
        case Kind::append:
        case Kind::append_wrong:
            return send(action, Append{session, generation, {next_message()}, action.how % 4 == 0});
        case Kind::close:
        case Kind::close_wrong:
            return send(action, close_of(id, generation, action.how));
        case Kind::close_any: {
            auto close = close_of(id, std::nullopt, action.how);
            // A person, or one that owned the session at some time.
            const auto* known = ledger_.find(session);
            if (known != nullptr && action.fate % 2 == 0) {
                auto life = known->lives.begin();
                std::advance(life, action.fate / 2 % known->lives.size());
                if (life->second.owner.process.pid != 0) {
                    close.caller = life->second.owner.process;
                }
            }
            return send(action, std::move(close));
        }
        case Kind::turn_on: {
            Turn turn{session, generation, /*on=*/true};
            turn.window = std::chrono::seconds{action.how % 40 + 5};
            turn.is_automatic = action.fate % 4 == 0;
            return send(action, std::move(turn));
        }
        case Kind::turn_off: {
            Turn turn{session, generation, /*on=*/false};
            turn.is_automatic = action.how % 4 == 0;
            return send(action, std::move(turn));
        }
        case Kind::turn_wrong:
            return send(action, Turn{session, generation, action.how % 2 == 0});
        case Kind::label: {
            // The two halves come apart: who writes the one must not lose the other.
            Label title{session, fmt::format("title {}", action.how % 3), {}};
            Label pin{session, {}, action.how % 2 == 0};
            if (action.fate % 3 != 0) send(action, std::move(title));
            if (action.fate % 3 != 1) send(action, std::move(pin));
            return;
        }
        default:
            return send(action, Heartbeat{{{session, generation}}});
    }
}

void World::beat_all(const Action& action) {
    Heartbeat heartbeat;
    for (const auto& [id, known] : ledger_.sessions()) {
        if (known.open) heartbeat.beats.push_back({SessionId(id), known.generation});
    }
    send(action, std::move(heartbeat));
}

/// A slow disk, much to write, and behind it the beats of a short lease and of all others.
void World::queue_up(const Action& action) {
    Create lease;
    lease.draft.id = SessionId(fmt::format("s{}", ++last_id_));
    lease.draft.source = "cli";
    lease.draft.owner = {.kind = OwnerKind::lease, .process = {}, .lease_ttl = 5s};
    ids_.push_back(lease.draft.id.text());
    requests_.push_back({host_.elapsed(), std::move(lease), tries, false});
    run_for(500ms);
    node_.slow_down(std::chrono::milliseconds{action.how % 1000 + 300});
    const auto writer = host_.start();
    for (std::uint32_t i = 0; i < action.which % 24 + 8; ++i) {
        Create create;
        create.draft.id = SessionId(fmt::format("s{}", ++last_id_));
        create.draft.source = "cli";
        create.draft.owner.process = writer;
        ids_.push_back(create.draft.id.text());
        requests_.push_back({host_.elapsed() + i * 20ms, std::move(create), tries, false});
    }
    for (const auto& [id, known] : ledger_.sessions()) {
        const auto life = known.lives.find(known.generation);
        if (!known.open || life->second.owner.kind != OwnerKind::lease) continue;
        for (auto late = 1s; late < 20s; late += 2s) {
            requests_.push_back({host_.elapsed() + late,
                                 Heartbeat{{{SessionId(id), known.generation}}}, tries, false});
        }
    }
    run_for(4s);
}

bool World::perform_by_client(const Action& action) {
    switch (action.kind) {
        case Kind::create:
            create(action, std::nullopt);
            return true;
        case Kind::create_crowd:
            create_crowd(action);
            return true;
        case Kind::create_and_close:
            create(action, close_of("", std::nullopt, action.how));
            return true;
        case Kind::resume:
        case Kind::takeover:
        case Kind::resume_and_close:
            resume(action, /*takeover=*/action.kind == Kind::takeover,
                   /*and_close=*/action.kind == Kind::resume_and_close);
            return true;
        case Kind::append:
        case Kind::append_wrong:
        case Kind::close:
        case Kind::close_wrong:
        case Kind::close_any:
        case Kind::turn_on:
        case Kind::turn_off:
        case Kind::turn_wrong:
        case Kind::label:
        case Kind::beat:
        case Kind::beat_wrong:
            write(action);
            return true;
        case Kind::beat_all:
            beat_all(action);
            return true;
        case Kind::queue_up:
            queue_up(action);
            return true;
        case Kind::spool_start:
            spool_start(action);
            return true;
        case Kind::spool_end:
            spool_end(action);
            return true;
        default:
            return false;
    }
}

}  // namespace knell::sim
