// Every way to an end, walked: one session:end, with its reason, last of its generation.

#include <csignal>

#include "core/end_path.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr int owner_pid = 500;
constexpr auto key = "agent:main:test:dm:1";

struct Walk {
    StoreKind store;
    EndPath path;
};

std::vector<Walk> walks() {
    std::vector<Walk> all;
    for (const auto& store : store_kinds()) {
        for (const auto& row : end_path_table) all.push_back({store, row.path});
    }
    return all;
}

Create keyed(const Owner& owner) {
    auto opened = create("a", owner);
    opened.draft.key = key;
    return opened;
}

Create parked(int pid) {
    auto opened = keyed(process_owner(pid));
    opened.draft.on_owner_loss = OnOwnerLoss::park;
    opened.draft.park_window = 60s;
    return opened;
}

Departure departure(Departure::Kind kind, int number = 0) {
    return watched_to_the_end({.kind = kind, .number = number, .evidence = "seen by the test"});
}

class EndPaths : public ::testing::TestWithParam<Walk> {
  protected:
    EndPaths() : under_test_(GetParam().store.make()), journal_(under_test_->store()) {}

    void goes(Departure how) { journal_.group({gone(owner_pid, std::move(how))}, at(5)); }

    /// Opens session "a", gives it a turn, and ends its generation 1 in this way.
    void walk(EndPath path);
    void open(Create opened) {
        journal_.one(std::move(opened), at(0));
        journal_.one(turn("a", 1, true), at(1));
    }
    std::vector<Event> events() {
        const auto reader = under_test_->store().open_reader();
        EXPECT_TRUE(reader);
        return (*reader)->events({.limit = 1000}).value().events;
    }
    std::vector<std::string> broken() {
        return broken_promises(**under_test_->store().open_reader());
    }

    std::unique_ptr<StoreUnderTest> under_test_;
    JournalOnStore journal_;
};

// No default: a way that is added to the table and not here does not compile.
void EndPaths::walk(EndPath path) {
    switch (path) {
        case EndPath::closed:
            open(keyed(process_owner(owner_pid)));
            journal_.one(close("a", 1), at(5));
            return;
        case EndPath::waited_for: {
            auto command = keyed(process_owner(owner_pid));
            command.draft.leftovers = LeftoversPolicy::report;
            command.reaper = {99, process_owner(99).process.start_ticks};
            command.reaper_is_parent = true;
            open(std::move(command));
            auto waited = close("a", 1, Reason::exited);
            waited.caller = process_owner(99).process;
            waited.is_over = true;
            journal_.one(std::move(waited), at(5));
            return;
        }
        case EndPath::spooled: {
            auto whole = keyed(process_owner(owner_pid));
            whole.and_close = close("a", {}, Reason::completed);
            journal_.one(std::move(whole), at(5));
            return;
        }
        case EndPath::taken_over:
            open(keyed(process_owner(owner_pid)));
            journal_.one(resume("a", /*takeover=*/true), at(5));
            return;
        case EndPath::claimed:
            open(parked(owner_pid));
            goes(departure(Departure::Kind::exited));
            journal_.one(resume("a"), at(6));
            return;
        case EndPath::command_completed: {
            auto command = keyed(process_owner(owner_pid));
            command.draft.leftovers = LeftoversPolicy::report;
            open(std::move(command));
            auto exit = gone(owner_pid, departure(Departure::Kind::exited, 0));
            exit.searched = true;
            journal_.group({exit}, at(5));
            return;
        }
        case EndPath::owner_exited:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::exited, 3));
        case EndPath::owner_signaled:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::signaled, SIGKILL));
        case EndPath::owner_oom_killed:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::oom_killed, SIGKILL));
        case EndPath::owner_lost:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::lost));
        case EndPath::host_restarted:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::host_restart));
        case EndPath::lease_ran_out:
            open(keyed(lease_owner(10s)));
            journal_.tick(at(12));
            return;
        case EndPath::park_window_over:
            open(parked(owner_pid));
            goes(departure(Departure::Kind::exited));
            journal_.tick(at(70));
            return;
        case EndPath::detach_window_over:
            journal_.one(keyed(hosted_owner(60s)), at(0));
            journal_.one(turn_of("a", /*client=*/1, /*window=*/10s), at(1));
            journal_.group({client_gone("a", 1)}, at(2));
            journal_.tick(at(13));  // the turn stalls
            journal_.tick(at(74));
            return;
        case EndPath::daemon_stopped:
            open(keyed(process_owner(owner_pid)));
            return goes(departure(Departure::Kind::stopped));
        case EndPath::idle_too_long:
            journal_.state.set_reset_policies(idle_policy(10min));
            open(keyed(process_owner(owner_pid)));
            journal_.one(turn("a", 1, false), at(2));
            journal_.tick(at(602));
            return;
        case EndPath::day_is_over:
            journal_.state.set_reset_policies(daily_policy(8h + 1min));
            open(keyed(process_owner(owner_pid)));
            journal_.one(turn("a", 1, false), at(2));
            journal_.tick(at(60));
            return;
        case EndPath::reset_by_message:
            open(keyed(process_owner(owner_pid)));
            journal_.one(suspend(key), at(2));
            journal_.one(route(key, "next", owner_pid), at(5));
            return;
        case EndPath::reset_by_person:
            open(keyed(process_owner(owner_pid)));
            journal_.one(reset(key), at(5));
            return;
        case EndPath::branched:
            open(keyed(process_owner(owner_pid)));
            journal_.one(branch("a", 1, "next"), at(5));
            return;
        case EndPath::compressed:
            open(keyed(process_owner(owner_pid)));
            journal_.one(append("a", 1, {"one", "two"}), at(3));
            journal_.one(compress("a", 1, "next", "both", 2), at(5));
            return;
    }
}

INSTANTIATE_TEST_SUITE_P(EveryWay, EndPaths, ::testing::ValuesIn(walks()), [](const auto& walk) {
    return walk.param.store.name + "_" + std::string(row_of(walk.param.path).name);
});

TEST_P(EndPaths, TellsOneEndWithItsReasonAsTheLastWordOfItsGeneration) {
    const auto& row = row_of(GetParam().path);
    walk(row.path);

    std::vector<Event> first;
    for (const auto& event : events()) {
        if (event.generation == 1 && event.session_id.text() == "a") first.push_back(event);
    }
    ASSERT_FALSE(first.empty());
    EXPECT_EQ(first.front().type, EventType::session_start);
    EXPECT_EQ(std::ranges::count(first, EventType::session_end, &Event::type), 1) << row.about;
    const auto& last = first.back();
    ASSERT_EQ(last.type, EventType::session_end) << row.about;
    EXPECT_TRUE(leads_to(row.path, last.end->reason)) << name_of(last.end->reason);
    EXPECT_FALSE(last.end->evidence.empty());
    EXPECT_EQ(last.end->proof, row.proof);
    EXPECT_EQ(last.session_key, key);
    const auto starts = std::ranges::count(first, EventType::agent_start, &Event::type);
    EXPECT_EQ(std::ranges::count(first, EventType::agent_end, &Event::type), starts)
        << "a turn that was on is over before the session is";
    EXPECT_EQ(broken(), std::vector<std::string>{});
}

TEST_P(EndPaths, TellsTheEndBeforeTheStartOfAReplacementForTheSameKey) {
    walk(GetParam().path);
    // The next generation where the way leads to one, else a new session for the key.
    if (journal_.state.open_count() == 0) {
        auto next = create("b");
        next.draft.key = key;
        ASSERT_TRUE(journal_.one(std::move(next), at(80)));
    }

    Seq ended = 0;
    Seq replaced = 0;
    for (const auto& event : events()) {
        const bool is_first = event.session_id.text() == "a" && event.generation == 1;
        if (event.type == EventType::session_end && is_first) ended = event.seq;
        if (event.type == EventType::session_start && !is_first) replaced = event.seq;
    }
    EXPECT_GT(ended, 0);
    EXPECT_LT(ended, replaced);
}

TEST_P(EndPaths, AreToldOnceHoweverOftenTheyAreTaken) {
    const auto path = GetParam().path;
    walk(path);
    journal_.one(close("a"), at(90));
    goes(departure(Departure::Kind::lost));
    journal_.tick(at(1000));

    EXPECT_EQ(std::ranges::count_if(events(),
                                    [](const Event& event) {
                                        return event.type == EventType::session_end &&
                                               event.session_id.text() == "a" &&
                                               event.generation == 1;
                                    }),
              1);
    EXPECT_EQ(journal_.state.open_count(), 0U);
    EXPECT_EQ(broken(), std::vector<std::string>{});
}

TEST(EndPathTable, HasARowForEachWayInOrderAndLeadsToEveryReasonOfTheDaemonItself) {
    for (std::size_t i = 0; i < end_path_table.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(end_path_table.at(i).path), i);
        EXPECT_FALSE(end_path_table.at(i).about.empty());
    }
    for (const auto& row : reason_table) {
        // Given by what is not there yet: a fleet, an import.
        if (row.reason == Reason::node_lost || row.reason == Reason::imported) continue;
        if (row.said_by != SaidBy::daemon) continue;
        EXPECT_NE(std::ranges::find(end_path_table, row.reason, &EndPathRow::reason),
                  end_path_table.end())
            << row.name;
    }
}

}  // namespace
}  // namespace knell::testing
