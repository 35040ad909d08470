// A change has one meaning, `apply`: after each batch of any history, every row of SQLite is what
// that makes of the row before.

#include "store/apply.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_history.hpp"
#include "readable.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

/// The rows as `apply` makes them, newest first as a store lists them.
class Rows {
  public:
    void write(const Batch& batch) {
        for (const auto& change : batch.changes) {
            if (is_of_process(change)) {
                write_process(change);
                continue;
            }
            const auto* opened = std::get_if<Opened>(&change);
            auto& row = rows_[opened ? opened->session.ordinal : ref_of(change)->ordinal];
            RC_ASSERT(fits(row, change));
            apply(row, change);
        }
    }
    std::vector<Session> all() const {
        std::vector<Session> rows;
        for (const auto& [ordinal, row] : rows_) rows.push_back(row);
        return rows;
    }

    std::vector<BackgroundProcess> processes() const {
        std::vector<BackgroundProcess> rows;
        for (const auto& [number, row] : processes_) rows.push_back(row);
        return rows;
    }

  private:
    void write_process(const Change& change) {
        const auto* opened = std::get_if<ProcessOpened>(&change);
        auto& row = processes_[opened ? opened->process.number : process_ref_of(change)->number];
        RC_ASSERT(fits(row, change));
        apply(row, change);
    }

    std::map<Ordinal, Session, std::greater<>> rows_;
    std::map<std::int64_t, BackgroundProcess, std::greater<>> processes_;
};

RC_GTEST_PROP(Apply, IsWhatSqlDoesToARow, ()) {
    const auto sqlite = store_kinds().at(1).make();
    RandomHistory history(*rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>()));
    Rows rows;
    for (int batch = *rc::gen::inRange(1, 20); batch > 0; --batch) {
        const auto next = history.next();
        RC_ASSERT(sqlite->store().commit(next).has_value());
        rows.write(next);
        if (history.one_in(5)) sqlite->reopen();
        const auto read = read_all(sqlite->store());
        RC_ASSERT(read.sessions == rows.all());
        std::vector<BackgroundProcess> processes;
        for (const auto& on_record : read.processes) processes.push_back(on_record.process);
        RC_ASSERT(processes == rows.processes());
    }
}

Session open_row() {
    Session row;
    row.generation = 2;
    return row;
}
Session ended_row() {
    auto row = open_row();
    row.end = End{};
    return row;
}

TEST(Apply, AChangeFitsARowOfItsGenerationAndState) {
    const SessionRef ref{SessionId("s"), 1, 2};
    const std::vector<Change> of_the_living{Ended{ref, {}},
                                            Appended{ref, 1, {}, {}, {}},
                                            MessagesCopied{ref, 7, 0, 1, {}},
                                            Interacted{ref, {}},
                                            KeyTaken{ref},
                                            ResetHeld{ref, {}, {}},
                                            TurnSet{ref, {}, {}},
                                            LivenessMarked{ref, {}, {}},
                                            Parked{ref, {}, {}},
                                            Seen{ref, {}},
                                            AttachmentSet{ref, 1, {}, false, {}},
                                            BackgroundSet{ref, {}, {}, {}}};
    for (const auto& change : of_the_living) {
        EXPECT_TRUE(fits(open_row(), change)) << change.index();
        EXPECT_FALSE(fits(ended_row(), change)) << change.index();
    }
    EXPECT_TRUE(fits(ended_row(), LeftoversSettled{ref, {}}));
    EXPECT_FALSE(fits(open_row(), LeftoversSettled{ref, {}}));

    EXPECT_TRUE(fits(open_row(), Labelled{ref, {}}));
    EXPECT_TRUE(fits(ended_row(), Labelled{ref, {}}));
    EXPECT_TRUE(fits(open_row(), Suspended{ref, {}, {}}));
    EXPECT_TRUE(fits(ended_row(), Suspended{ref, {}, {}}));

    const Reopened same{ref};
    EXPECT_FALSE(fits(open_row(), same));
    const Reopened next{{ref.id, ref.ordinal, 3}};
    EXPECT_TRUE(fits(open_row(), next));
    EXPECT_TRUE(fits(ended_row(), next));
}

TEST(Apply, AChangeFitsAProcessThatRuns) {
    BackgroundProcess running;
    running.number = 7;
    running.id = ProcessId::from_bits(7);
    auto exited = running;
    exited.exit = ProcessExit{};
    const ProcessRef ref{running.number, running.id};
    for (const auto& change : std::vector<Change>{
             ProcessEnded{ref, {}}, ProcessMarked{ref, {}, {}}, ProcessVouched{ref, {}},
             ProcessStopAsked{ref, {}, {}}, ProcessHandedOver{ref, SessionId("t"), 1}}) {
        EXPECT_TRUE(fits(running, change)) << change.index();
        EXPECT_FALSE(fits(exited, change)) << change.index();
        EXPECT_FALSE(fits(open_row(), change)) << change.index();
    }
    EXPECT_FALSE(fits(running, ProcessVouched{{8, ref.id}, {}}));
    EXPECT_FALSE(fits(running, ProcessVouched{{7, ProcessId::from_bits(8)}, {}}));
    EXPECT_FALSE(fits(running, Seen{{SessionId("s"), 1, 2}, {}}));
}

/// Its session was detached at 10 s, while it was at work.
TEST(Apply, TheEndOfBackgroundWorkBeginsTheDetachWindowAnew) {
    const SessionRef ref{SessionId("s"), 1, 2};
    auto row = open_row();
    row.detached_since = at(10).wall;
    apply(row, BackgroundSet{ref, at(20).wall, at(20).wall, {}});
    EXPECT_EQ(status_of(row), Status::background);
    EXPECT_EQ(row.detached_since, at(10).wall);
    apply(row, BackgroundSet{ref, {}, at(30).wall, SteadyTime{std::chrono::seconds{5}}});
    EXPECT_EQ(row.detached_since, at(30).wall);
    EXPECT_EQ(row.lease_from, SteadyTime{std::chrono::seconds{5}});
    EXPECT_FALSE(row.background_since);

    // The clock was set back meanwhile.
    apply(row, BackgroundSet{ref, {}, at(25).wall, {}});
    EXPECT_EQ(row.detached_since, at(30).wall);
    row.detached_since.reset();
    apply(row, BackgroundSet{ref, {}, at(40).wall, {}});
    EXPECT_FALSE(row.detached_since) << "somebody looks at it";
}

}  // namespace
}  // namespace knell::testing
