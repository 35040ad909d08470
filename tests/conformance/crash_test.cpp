#include <fmt/format.h>

#include <map>

#include "stores.hpp"

namespace knell::testing {
namespace {

/// What was acknowledged, and what therefore must be on record for ever.
struct Promised {
    std::map<std::string, Generation> opened;                  // highest acknowledged generation
    std::map<std::string, std::int64_t> messages;              // acknowledged so far
    std::map<std::string, std::pair<Generation, Reason>> ended;

    void note(const std::string& id, const Reply& reply) {
        if (const auto* open = std::get_if<OpenedReply>(&reply)) opened[id] = open->generation;
        if (const auto* append = std::get_if<AppendedReply>(&reply)) {
            messages[id] = append->tally.messages;
        }
        if (const auto* close = std::get_if<ClosedReply>(&reply)) {
            ended[id] = {close->generation, close->end.reason};
        }
    }
};

/// The groups of one story, touching every kind of change, alone and together.
std::vector<std::vector<Command>> story() {
    return {
        {create("a")},
        {create("b"), create("c"), append("a", 1, {"one", "two"})},
        {turn("a", 1, true), append("b", 1, {std::string(9000, 'x')})},
        {turn("a", 1, false), close("c", 1, Reason::exited)},
        {close("b", 1), resume("a", /*takeover=*/true)},
        {resume("c"), append("c", 2, {"again"}), append("a", 2, {"three"})},
        {close("a"), close("a"), resume("a"), append("a", 3, {"four"})},
        {close("a"), close("c"), create("d"), close("d")},
    };
}

/// Plays the story until the disk fails, noting what was acknowledged.
Promised play(JournalOnStore& journal, bool stop_at_failure) {
    Promised promised;
    std::int64_t clock = 0;
    for (auto& group : story()) {
        std::vector<std::string> ids;
        for (const auto& command : group) ids.push_back(subject_of(command).text());
        const auto replies = journal.group(std::move(group), at(++clock));
        for (std::size_t i = 0; i < replies.size(); ++i) {
            if (replies[i]) promised.note(ids[i], *replies[i]);
            const bool disk_failed = !replies[i] && replies[i].error().code == ErrorCode::storage;
            if (disk_failed && stop_at_failure) return promised;
        }
    }
    return promised;
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
}

Result<std::unique_ptr<Store>> open_on(const FaultyDisk& disk) {
    return sqlite::open_store({.path = "knell.db", .vfs = disk.vfs()});
}

TEST(Crash, APowerCutAtEveryOperationLosesNothingAcknowledged) {
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
                promised = play(journal, /*stop_at_failure=*/true);
            }
            struck = disk.fault_struck();
            disk.restore_power(seed);

            auto store = open_on(disk);
            ASSERT_TRUE(store) << store.error().message;
            auto reader = (*store)->open_reader();
            ASSERT_TRUE(reader) << reader.error().message;
            expect_kept(promised, **reader);
            // And it goes on from there.
            JournalOnStore journal(**store);
            ASSERT_TRUE(journal.one(create("after the cut"), at(100)));
            EXPECT_EQ(broken_promises(**reader), std::vector<std::string>{});
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(operation, 50U) << "the story is too short to mean anything";
}

class FailingDisk : public ::testing::TestWithParam<FaultyDisk::Fault> {};
INSTANTIATE_TEST_SUITE_P(EveryFault, FailingDisk,
                         ::testing::Values(FaultyDisk::Fault::io_error, FaultyDisk::Fault::full),
                         [](const auto& fault) {
                             return fault.param == FaultyDisk::Fault::full ? "full" : "io_error";
                         });

TEST_P(FailingDisk, AnErrorAtEveryOperationFailsItsGroupWholeAndServiceResumes) {
    std::uint64_t operation = 1;
    for (bool struck = true; struck; ++operation) {
        SCOPED_TRACE(fmt::format("operation {}", operation));
        FaultyDisk disk;
        auto store = open_on(disk);
        ASSERT_TRUE(store) << store.error().message;
        disk.fail_at(operation, GetParam(), /*times=*/2);
        JournalOnStore journal(**store);
        const auto promised = play(journal, /*stop_at_failure=*/false);
        struck = disk.fault_struck();
        disk.heal();

        auto reader = (*store)->open_reader();
        ASSERT_TRUE(reader) << reader.error().message;
        expect_kept(promised, **reader);
        ASSERT_TRUE(journal.one(create("after the fault"), at(100)));
        EXPECT_EQ(broken_promises(**reader), std::vector<std::string>{});
        // What the engine believes is what a restart would find.
        JournalOnStore fresh(**store);
        EXPECT_EQ(fresh.state.open_count(), journal.state.open_count());
        EXPECT_EQ(fresh.state.running_count(), journal.state.running_count());
        EXPECT_EQ(fresh.state.heads().seq, journal.state.heads().seq);
        EXPECT_EQ(fresh.state.heads().ordinal, journal.state.heads().ordinal);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(operation, 30U) << "the story is too short to mean anything";
}

}  // namespace
}  // namespace knell::testing
