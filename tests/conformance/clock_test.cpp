// What must not kill: a stopped daemon, a sleeping host, a wall clock that steps either way.

#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/awake_clock.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

/// The clocks of a machine: what the daemon reads of them, and what happens between the readings.
class Machine {
  public:
    /// The daemon looks.
    Now look() { return clock_.read(readings_); }
    /// Everything goes its way.
    void run(std::chrono::milliseconds time) {
        readings_.wall += time;
        readings_.awake += time;
        readings_.boot += time;
    }
    void suspend(std::chrono::milliseconds time) {
        readings_.wall += time;
        readings_.boot += time;
    }
    void step_wall(std::chrono::milliseconds by) { readings_.wall += by; }
    WallTime wall() const { return readings_.wall; }

  private:
    AwakeClock::Readings readings_{at(0).wall, SteadyTime{1h}, SteadyTime{1h}};
    AwakeClock clock_{readings_};
};

class Clocks : public StoreStory {
  protected:
    Clocks() { restart(machine.look()); }
    /// The daemon runs as it should, looking every 50 ms.
    void run(std::chrono::milliseconds time) {
        for (; time > 0ms; time -= 50ms) {
            machine.run(50ms);
            journal().tick(machine.look());
        }
    }
    bool is_open(const std::string& id) { return !shown(id).end; }

    Machine machine;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Clocks, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Clocks, ASpooledLifeDoesNotSetItsSessionBack) {
    const auto began = machine.wall();
    journal().one(create("a", process_owner(5)), machine.look());
    run(4s);
    journal().one(close("a", 1), machine.look());
    machine.step_wall(-1h);
    run(1s);
    auto spooled = resume("a");
    spooled.owner = process_owner(6);
    spooled.at = began;
    journal().one(spooled, machine.look());
    journal().step({gone(6, signaled(SIGKILL))}, machine.look());

    const auto starts = told(EventType::session_start);
    const auto ends = told(EventType::session_end);
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_GE(ends[1].time, starts[1].time);
    EXPECT_GE(ends[1].time, ends[0].time);
}

TEST_P(Clocks, ALeaseOutlivesANightWithTheLidClosed) {
    journal().one(create("a", lease_owner(45s)), machine.look());
    run(10s);
    machine.suspend(8h);
    run(34s);
    EXPECT_TRUE(is_open("a")) << "44 s awake of 45";
    journal().one(beat("a"), machine.look());
    run(44s);
    EXPECT_TRUE(is_open("a"));

    run(2s);

    EXPECT_FALSE(is_open("a")) << "awake and not renewed";
}

TEST_P(Clocks, ALeaseOutlivesAStoppedDaemon) {
    journal().one(create("a", lease_owner(10s)), machine.look());
    for (int i = 0; i < 8; ++i) {
        run(500ms);
        machine.run(10min);  // SIGSTOP: nobody looks
        journal().tick(machine.look());
        EXPECT_TRUE(is_open("a")) << "stopped " << i + 1 << " times";
    }
}

TEST_P(Clocks, ADeathDuringTheSleepHasBoundsAsWideAsTheSleep) {
    journal().one(create("a", process_owner(5)), machine.look());
    run(1s);
    const auto before = machine.wall();
    auto killed = signaled(SIGKILL);
    killed.last_look = machine.look().boot;
    machine.suspend(8h);
    machine.run(10ms);

    journal().one(gone(5, killed), machine.look());

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, before);
    EXPECT_EQ(end.ended_before, machine.wall());
}

TEST_P(Clocks, ADeathThatWasWatchedHasNarrowBounds) {
    journal().one(create("a", process_owner(5)), machine.look());
    run(10s);
    machine.run(20ms);

    journal().one(gone(5, signaled(SIGKILL)), machine.look());

    EXPECT_EQ(shown("a").end->ended_after, shown("a").end->ended_before);
}

TEST_P(Clocks, AWallClockThatStepsADayChangesNoDeadline) {
    for (const auto step : {24h, -24h}) {
        const auto id = fmt::format("s{}", step.count());
        journal().one(create(id, lease_owner(10s)), machine.look());
        run(5s);
        machine.step_wall(step);
        run(4s);
        EXPECT_TRUE(is_open(id));
        run(2s);
        ASSERT_FALSE(is_open(id));
        const auto end = *shown(id).end;
        EXPECT_LE(end.ended_after, end.ended_at);
        EXPECT_LE(end.ended_at, end.ended_before);
    }
}

/// Evenly, from the first case on.
int pick(int from, int below) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, below));
}

/// Whatever the wall clock does, bounds stay in order, and a lease that is renewed in time lives.
RC_GTEST_PROP(AnyClock, KeepsBoundsInOrderAndRenewedLeasesAlive, ()) {
    const auto store = make_memory_store();
    Machine machine;
    auto journal = std::make_unique<JournalOnStore>(*store, machine.look());
    const auto parking = [](std::string id, int pid) {
        auto command = create(std::move(id), process_owner(pid));
        command.draft.on_owner_loss = OnOwnerLoss::park;
        command.draft.park_window = 5s;
        return command;
    };
    journal->group({create("kept", lease_owner(10s)), create("left", lease_owner(10s)),
                    create("p1", process_owner(1)), create("p2", process_owner(2)),
                    parking("p3", 3), parking("p4", 4)},
                   machine.look());
    int next_death = 1;
    std::chrono::milliseconds unrenewed{0};
    const auto steps = pick(5, 60);
    for (int i = 0; i < steps; ++i) {
        const auto jump = std::chrono::milliseconds(pick(-90'000'000, 90'000'000));
        switch (pick(0, 6)) {
            case 0:
                machine.step_wall(jump);
                break;
            case 1:
                machine.suspend(std::chrono::abs(jump));
                break;
            case 2:
                machine.run(std::chrono::abs(jump));
                break;  // stopped, or stuck
            case 3:
                if (next_death <= 4) {
                    const bool seen = pick(0, 2) == 1;
                    journal->one(gone(next_death++, seen ? signaled(SIGKILL) : lost()),
                                 machine.look());
                }
                break;
            case 4:
                journal = std::make_unique<JournalOnStore>(*store, machine.look());
                unrenewed = 0ms;
                break;
            default: {
                const auto time = std::chrono::milliseconds(pick(1, 3000));
                for (auto left = time; left > 0ms; left -= 50ms) {
                    machine.run(50ms);
                    journal->tick(machine.look());
                }
            }
        }
        unrenewed += 4s;
        // Told at the latest every 9 s of its own time; the daemon may have heard none of the rest.
        if (unrenewed >= 8s) {
            journal->one(beat("kept"), machine.look());
            unrenewed = 0ms;
        }
    }
    const auto reader = std::move(*store->open_reader());
    RC_ASSERT(broken_promises(*reader) == std::vector<std::string>{});
    RC_ASSERT(!(*reader->find(SessionId("kept")))->end);
    const auto record = read_record(*reader);
    for (const auto& event : record->events) {
        if (!event.end) continue;
        RC_ASSERT(event.end->ended_after <= event.end->ended_at);
        RC_ASSERT(event.end->ended_at <= event.end->ended_before);
    }
}

}  // namespace
}  // namespace knell::testing
