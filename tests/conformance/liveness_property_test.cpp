// Anything that may happen, in any order: promises are kept, the living are left alone and the dead
// are not.

#include <csignal>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr int ids = 12;
constexpr int pids = 4;

/// Evenly, from the first case on.
int pick(int from, int below) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, below));
}

/// A world with sessions and owners, and the truth about them beside what the engine believes.
class World {
  public:
    World() { reader_ = std::move(*store_->open_reader()); }

    void act() {
        switch (pick(0, 14)) {
            case 0:
            case 1:
                return open();
            case 2:
                return take(/*takeover=*/true);
            case 3:
                return take(/*takeover=*/false);
            case 4:
                return say(any_id(), [&](auto id) { return append(id, any_generation(), {"x"}); });
            case 5:
                return say(any_id(),
                           [&](auto id) { return turn(id, any_generation(), pick(0, 2) == 1); });
            case 6:
                return say(any_id(), [&](auto id) { return close(id); });
            case 7:
            case 8:
                return renew();
            case 9:
                return kill();
            case 10:
                return note(OwnerUnknown{process(any_pid()), "why not"});
            case 11:
                return note(OwnerAlive{process(any_pid())});
            case 12:
                return pass();
            default:
                return restart();
        }
    }

    void check() {
        RC_ASSERT(broken_promises(*reader_) == std::vector<std::string>{});
        std::size_t open = 0;
        for (const auto& session : read_record(*reader_)->sessions) {
            if (session.end) continue;
            ++open;
            const auto life = lives_.find(session.id.text());
            RC_ASSERT(life != lives_.end());
            RC_ASSERT(life->second.generation == session.generation);
            // No death is missed either.
            if (session.owner.kind == OwnerKind::process && !session.parked_since) {
                RC_ASSERT(!dead_.contains(session.owner.process.start_ticks));
            }
        }
        RC_ASSERT(open == lives_.size());
    }

  private:
    /// One generation of a session, as its owner sees it.
    struct Life {
        Generation generation = 0;
        Owner owner;
        SteadyTime last_sign;
    };

    static std::string any_id() { return std::to_string(pick(0, ids)); }
    static int any_pid() { return pick(1, pids + 1); }
    static Generation any_generation() { return static_cast<Generation>(pick(1, 4)); }
    /// Whoever runs under this pid now.  Start ticks are never used twice, pids are.
    ProcessIdentity process(int pid) {
        auto identity = process_owner(pid).process;
        if (ticks_[pid] == 0) ticks_[pid] = ++last_ticks_;
        identity.start_ticks = ticks_[pid];
        return identity;
    }
    Owner any_owner() {
        const auto kind = pick(0, 3);
        if (kind == 0) return lease_owner(std::chrono::seconds{pick(5, 60)});
        auto owner = process_owner(1);
        owner.process = process(any_pid());
        if (kind == 1) owner.lease_ttl = 10s;
        return owner;
    }

    Journal::Step step(std::vector<Input> inputs) {
        auto step = journal_->step(std::move(inputs), now_);
        for (const auto& event : step.automatic()) {
            if (event.end) judge(event);
        }
        // As the daemon does it: look for leftovers, then say it again.
        for (const auto& effect : step.effects) {
            if (const auto* search = std::get_if<FindLeftovers>(&effect)) {
                note(OwnerGone{search->process, search->departure, {}, /*searched=*/true});
            }
        }
        return step;
    }
    void note(Input input) { step({std::move(input)}); }

    /// An end that nobody asked for must have a good reason.
    void judge(const Event& event) {
        RC_ASSERT(event.end->ended_after <= event.end->ended_at);
        RC_ASSERT(event.end->ended_at <= event.end->ended_before);
        const auto found = lives_.find(event.session_id.text());
        RC_ASSERT(found != lives_.end());
        const auto& life = found->second;
        RC_ASSERT(life.generation == event.generation);
        if (life.owner.kind == OwnerKind::lease) {
            RC_ASSERT(event.end->reason == Reason::reaped);
            RC_ASSERT(now_.steady - life.last_sign >= life.owner.lease_ttl);
        } else {
            RC_ASSERT(event.end->reason != Reason::reaped);
            RC_ASSERT(dead_.contains(life.owner.process.start_ticks));
        }
        lives_.erase(found);
    }

    template <typename Say>
    void say(const std::string& id, Say&& command) {
        const auto reply = std::move(step({command(id)}).replies.front());
        if (!reply) return;
        if (std::holds_alternative<ClosedReply>(*reply)) {
            lives_.erase(id);
        } else {
            lives_.at(id).last_sign = now_.steady;
        }
    }
    void open() {
        auto command = create(any_id(), any_owner());
        if (pick(0, 2) == 1) {
            command.draft.on_owner_loss = OnOwnerLoss::park;
            command.draft.park_window = 20s;
        }
        if (pick(0, 3) == 0) command.draft.leftovers = LeftoversPolicy::report;
        opened(command.draft.id.text(), command.draft.owner, command);
    }
    void take(bool takeover) {
        auto command = resume(any_id(), takeover);
        command.owner = any_owner();
        opened(command.session_id.text(), command.owner, command);
    }
    void opened(const std::string& id, const Owner& owner, Input input) {
        const auto reply = std::move(step({std::move(input)}).replies.front());
        if (reply) lives_[id] = {std::get<OpenedReply>(*reply).generation, owner, now_.steady};
    }
    void renew() {
        Heartbeat all;
        for (int i = 0; i < ids; ++i) {
            all.beats.push_back({SessionId(std::to_string(i)), any_generation()});
        }
        const auto step = this->step({all});
        for (const auto& id : std::get<HeartbeatReply>(*step.replies.front()).renewed) {
            lives_.at(id.text()).last_sign = now_.steady;
        }
    }
    void kill() {
        const int pid = any_pid();
        const auto victim = process(pid);
        dead_.insert(victim.start_ticks);
        ticks_[pid] = 0;
        const auto departure = *rc::gen::element(exited(0), exited(9), signaled(SIGKILL), lost());
        std::vector<Input> inputs;
        for (auto observers = pick(1, 4); observers > 0; --observers) {
            inputs.emplace_back(OwnerGone{victim, departure, {}, /*searched=*/false});
        }
        step(std::move(inputs));
    }
    void pass() {
        const auto time = std::chrono::milliseconds(pick(1, 30'000));
        now_.steady += time;
        now_.wall += time + std::chrono::milliseconds(pick(-60'000, 60'000));
        step({});
    }
    void restart() {
        journal_ = std::make_unique<JournalOnStore>(*store_, now_);
        // The daemon looks at every owner that the store names.
        for (const auto& owner : std::get<SurveyReply>(*step({Survey{}}).replies.front()).owners) {
            if (dead_.contains(owner.process.start_ticks)) {
                note(OwnerGone{owner.process, lost(), {}, /*searched=*/false});
            } else {
                note(OwnerAlive{owner.process});
            }
        }
    }

    Now now_ = at(0);
    std::unique_ptr<Store> store_ = make_memory_store();
    std::unique_ptr<JournalOnStore> journal_ = std::make_unique<JournalOnStore>(*store_, now_);
    std::unique_ptr<Reader> reader_;
    std::map<std::string, Life> lives_;
    std::set<std::uint64_t> dead_;        // start ticks
    std::map<int, std::uint64_t> ticks_;  // of whoever runs under a pid; 0: nobody yet
    std::uint64_t last_ticks_ = 0;
};

RC_GTEST_PROP(AnyHistory, KeepsItsPromisesAndEndsNoLivingSession, ()) {
    World world;
    const auto steps = pick(10, 200);
    for (int i = 0; i < steps; ++i) world.act();
    world.check();
}

}  // namespace
}  // namespace knell::testing
