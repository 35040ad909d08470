#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

/// What was acknowledged, and what therefore must be on record for ever.
struct Promised {
    std::map<std::string, Generation> opened;      // highest acknowledged generation
    std::map<std::string, std::int64_t> messages;  // acknowledged so far
    std::map<std::string, std::pair<Generation, Reason>> ended;
    std::map<ProcessId, std::optional<ProcessExit>> processes;

    void note(const std::string& id, const Reply& reply) {
        if (const auto* open = std::get_if<OpenedReply>(&reply)) opened[id] = open->generation;
        if (const auto* append = std::get_if<AppendedReply>(&reply)) {
            messages[id] = append->tally.messages;
        }
        if (const auto* close = std::get_if<ClosedReply>(&reply)) {
            ended[id] = {close->generation, close->end.reason};
        }
    }
    void note(const Event& told) {
        if (told.process) processes[told.process->id] = told.process->exit;
    }
};

/// Commands that come together, and when.
struct Chapter {
    std::int64_t time = 0;
    std::vector<Input> inputs;
};
using Story = std::vector<Chapter>;

/// What clients do: every kind of change, alone and together.
Story life_story() {
    return {
        {1, {create("a")}},
        {2, {create("b"), create("c"), append("a", 1, {"one", "two"})}},
        {3, {turn("a", 1, true), append("b", 1, {std::string(9000, 'x')})}},
        {4, {turn("a", 1, false), close("c", 1, Reason::exited)}},
        {5, {close("b", 1), resume("a", /*takeover=*/true)}},
        {6, {resume("c"), append("c", 2, {"again"}), append("a", 2, {"three"})}},
        {7, {close("a"), close("a"), resume("a"), append("a", 3, {"four"})}},
        {8, {close("a"), close("c"), create("d"), close("d")}},
    };
}

/// What observers and the clock do.  Processes 5, 7 and 8 die, leases "reaped" and those of the
/// crowd are not renewed.
Story liveness_story() {
    auto parking = create("claimed", process_owner(5));
    parking.draft.on_owner_loss = OnOwnerLoss::park;
    parking.draft.park_window = 30s;
    auto forgotten = parking;
    forgotten.draft.id = SessionId("forgotten");
    auto command = create("command", process_owner(7));
    command.draft.leftovers = LeftoversPolicy::stop;
    const auto found = gone(7, exited(0), "command", {leftover(42)});
    auto stalling = process_owner(6);
    stalling.lease_ttl = 5s;
    std::vector<Input> crowd;
    for (int i = 0; i < 20; ++i)
        crowd.emplace_back(create(fmt::format("l{}", i), lease_owner(10s)));
    return {
        {1, {create("reaped", lease_owner(10s)), create("renewed", lease_owner(900s))}},
        {2, {create("lost", process_owner(5)), parking, forgotten, command}},
        {3,
         {create("uncertain", process_owner(6)), create("stalled", stalling),
          turn("lost", 1, true)}},
        {4, {beat("reaped"), beat("renewed"), unknown(6)}},
        {5, {gone(5, signaled(9)), append("uncertain", 1, {"here"})}},
        {6, {found, alive(6), resume("claimed")}},
        {12, {settle("command", 1, {leftover(42, Fate::killed)})}},
        {20, {}},
        {21, {beat("stalled"), create("late", process_owner(8))}},
        {22, {append("late", 1, {"x"}), gone(8, lost()), beat("renewed")}},
        {23, std::move(crowd)},
        {34, {beat("l0")}},
        {50, {}},
        {70, {}},
    };
}

RecordProcess run_for(std::string session, int pid) {
    RecordProcess record;
    record.draft.session_id = SessionId(std::move(session));
    record.draft.process = process_owner(pid).process;
    record.draft.id = process_id_of(record.draft.process);
    record.draft.argv = {"sleep", std::to_string(pid)};
    return record;
}
ProcessId id_of(int pid) {
    return process_id_of(process_owner(pid).process);
}
ProcessGone went(const ProcessIdentity& process, Departure departure) {
    return {process, std::move(departure), {}};
}
ProcessGone went(int pid, Departure departure) {
    return went(process_owner(pid).process, std::move(departure));
}
ProcessActive seen_doing(int pid, ProcessActivity activity, bool stale = false) {
    return {id_of(pid), {activity, at(3).wall, "seen"}, stale};
}

/// Background processes 31 to 36 come, are looked after and go, some after their session.
Story process_story() {
    const auto brief = create("brief", process_owner(5));
    return {
        {1, {create("work", process_owner(6)), create("host", hosted_owner(10s)), brief}},
        {2, {run_for("work", 31), run_for("work", 32), run_for("host", 33)}},
        {3, {run_for("brief", 34), seen_doing(31, ProcessActivity::listening)}},
        {4, {VouchProcess{id_of(31), at(20).wall}, turn("work", 1, true)}},
        {5, {gone(5, signaled(9)), run_for("work", 35), went(35, exited(3))}},
        {6,
         {StopProcess{id_of(32), "the test"},
          seen_doing(33, ProcessActivity::waiting, /*stale=*/true)}},
        {7, {went(32, signaled(15)), went(34, exited(0))}},
        {8, {resume("work", /*takeover=*/true), seen_doing(33, ProcessActivity::working)}},
        {9, {close("work")}},
        {25, {}},
        {26, {resume("work"), went(31, lost())}},
        {27, {run_for("work", 36), append("work", 3, {"here"})}},
        {28, {went(33, exited(0)), went(36, exited(0))}},
        {60, {}},
    };
}

bool is_dead(const Session& session) {
    const auto pid = session.owner.process.pid;
    if (session.owner.kind == OwnerKind::process) return pid == 5 || pid == 7 || pid == 8;
    return session.id.text() != "renewed";
}

bool is_observed(const Input& input) {
    return std::holds_alternative<Observation>(input);
}

/// Plays the story until the disk fails, noting what was acknowledged.
Promised play(const Story& story, JournalOnStore& journal, bool stop_at_failure) {
    Promised promised;
    std::vector<Input> unheard;  // observers' words that failed: said again, as the daemon does
    for (const auto& chapter : story) {
        auto group = std::exchange(unheard, {});
        group.insert(group.end(), chapter.inputs.begin(), chapter.inputs.end());
        const auto step = journal.step(group, at(chapter.time));
        for (std::size_t i = 0; i < group.size(); ++i) {
            const auto* subject = subject_of(group[i]);
            if (step.replies[i] && subject != nullptr)
                promised.note(subject->text(), *step.replies[i]);
            if (!step.replies[i] && is_observed(group[i])) unheard.push_back(group[i]);
        }
        for (const auto& event : step.events) promised.note(event);
        for (const auto& event : step.automatic()) {
            if (event.end)
                promised.ended[event.session_id.text()] = {event.generation, event.end->reason};
        }
        if (step.failed && stop_at_failure) return promised;
    }
    // What is due by the end of the story is done at the latest when the disk works.
    if (!stop_at_failure) journal.group(std::move(unheard), at(story.back().time));
    return promised;
}

/// Long after the story: whoever is dead by then has ended.
void expect_no_dead_left(JournalOnStore& journal, Reader& reader, std::int64_t time) {
    journal.tick(at(time));
    journal.tick(at(time + 40));
    for (const auto& session : read_record(reader)->sessions) {
        if (is_dead(session)) {
            EXPECT_TRUE(session.end) << session.id.text();
        }
    }
    EXPECT_EQ(broken_promises(reader), std::vector<std::string>{});
}

void expect_kept(const Promised& promised, Reader& reader) {
    EXPECT_EQ(broken_promises(reader), std::vector<std::string>{});
    for (const auto& [id, generation] : promised.opened) {
        const auto found = reader.find(SessionId(id));
        ASSERT_TRUE(found && *found) << id << " was acknowledged and is lost";
        EXPECT_GE((*found)->generation, generation) << id;
    }
    for (const auto& [id, count] : promised.messages) {
        EXPECT_GE(reader.find(SessionId(id)).value()->tally.messages, count) << id;
    }
    for (const auto& [id, end] : promised.ended) {
        const auto session = *reader.find(SessionId(id)).value();
        if (session.generation > end.first) continue;
        ASSERT_TRUE(session.end) << id << ": an acknowledged end is lost";
        EXPECT_EQ(session.end->reason, end.second) << id;
    }
    for (const auto& [id, exit] : promised.processes) {
        const auto found = reader.process(id);
        ASSERT_TRUE(found && *found) << id.text() << " was acknowledged and is lost";
        if (exit) {
            EXPECT_EQ((*found)->process.exit, exit) << id.text();
        }
    }
}

/// What a daemon that starts finds of them: all are gone.
std::vector<Input> processes_gone(Store& store) {
    std::vector<Input> found;
    EXPECT_TRUE(store.for_each_running_process([&](const BackgroundProcess& process) {
        found.emplace_back(went(process.process, lost()));
    }));
    return found;
}

Result<std::unique_ptr<Store>> open_on(const FaultyDisk& disk) {
    return sqlite::open_store({.path = "knell.db", .vfs = disk.vfs()});
}

struct NamedStory {
    const char* name;
    Story (*make)();
};
const std::vector<NamedStory> stories{
    {"life", life_story}, {"liveness", liveness_story}, {"processes", process_story}};

class PowerCut : public ::testing::TestWithParam<NamedStory> {};
INSTANTIATE_TEST_SUITE_P(EveryStory, PowerCut, ::testing::ValuesIn(stories),
                         [](const auto& story) { return story.param.name; });

TEST_P(PowerCut, AtEveryOperationLosesNothingAcknowledged) {
    const auto story = GetParam().make();
    std::uint64_t operation = 1;
    for (bool struck = true; struck; ++operation) {
        // Several fates for the writes that were not synced.
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            SCOPED_TRACE(fmt::format("operation {}, seed {}", operation, seed));
            FaultyDisk disk;
            disk.fail_at(operation, FaultyDisk::Fault::power_cut);
            Promised promised;
            if (auto store = open_on(disk)) {
                JournalOnStore journal(**store);
                promised = play(story, journal, /*stop_at_failure=*/true);
            }
            struck = disk.fault_struck();
            disk.restore_power(seed);

            auto store = open_on(disk);
            ASSERT_TRUE(store) << store.error().message;
            auto reader = (*store)->open_reader();
            ASSERT_TRUE(reader) << reader.error().message;
            expect_kept(promised, **reader);
            // And it goes on from there.
            JournalOnStore journal(**store, at(100));
            ASSERT_TRUE(journal.one(create("after the cut"), at(100)));
            // The daemon looks at every owner again.
            auto searched = gone(7, lost());
            searched.searched = true;
            journal.group({gone(5, lost()), searched, gone(8, lost())}, at(100));
            journal.group(processes_gone(**store), at(100));
            EXPECT_EQ(journal.state.processes().size(), 0U);
            expect_no_dead_left(journal, **reader, 121);
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(operation, 50U) << "the story is too short to mean anything";
}

class FailingDisk : public ::testing::TestWithParam<std::tuple<FaultyDisk::Fault, NamedStory>> {};
INSTANTIATE_TEST_SUITE_P(EveryFault, FailingDisk,
                         ::testing::Combine(::testing::Values(FaultyDisk::Fault::io_error,
                                                              FaultyDisk::Fault::full),
                                            ::testing::ValuesIn(stories)),
                         [](const auto& param) {
                             const bool full = std::get<0>(param.param) == FaultyDisk::Fault::full;
                             return fmt::format("{}_{}", full ? "full" : "io_error",
                                                std::get<1>(param.param).name);
                         });

TEST_P(FailingDisk, AnErrorAtEveryOperationFailsItsGroupWholeAndServiceResumes) {
    const auto [fault, named] = GetParam();
    const auto story = named.make();
    std::uint64_t operation = 1;
    for (bool struck = true; struck; ++operation) {
        SCOPED_TRACE(fmt::format("operation {}", operation));
        FaultyDisk disk;
        auto store = open_on(disk);
        ASSERT_TRUE(store) << store.error().message;
        disk.fail_at(operation, fault, /*times=*/2);
        JournalOnStore journal(**store);
        const auto promised = play(story, journal, /*stop_at_failure=*/false);
        struck = disk.fault_struck();
        disk.heal();

        auto reader = (*store)->open_reader();
        ASSERT_TRUE(reader) << reader.error().message;
        expect_kept(promised, **reader);
        ASSERT_TRUE(journal.one(create("after the fault"), at(100)));
        expect_no_dead_left(journal, **reader, 101);
        // What the engine believes is what a restart would find.
        JournalOnStore fresh(**store, at(142));
        EXPECT_EQ(fresh.state.open_count(), journal.state.open_count());
        for (std::size_t i = 0; i < status_names.size(); ++i) {
            const auto status = static_cast<Status>(i);
            EXPECT_EQ(fresh.state.count(status), journal.state.count(status)) << status_names[i];
        }
        EXPECT_EQ(fresh.state.heads().seq, journal.state.heads().seq);
        EXPECT_EQ(fresh.state.heads().ordinal, journal.state.heads().ordinal);
        EXPECT_EQ(fresh.state.heads().process_number, journal.state.heads().process_number);
        EXPECT_EQ(fresh.state.processes().size(), journal.state.processes().size());
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(operation, 30U) << "the story is too short to mean anything";
}

}  // namespace
}  // namespace knell::testing
