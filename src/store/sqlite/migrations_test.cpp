// A store of each earlier version, with rows in it, as that version wrote them.

#include "store/sqlite/migrations.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/archive.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/version_rows_test.hpp"
#include "testing/store_edit.hpp"
#include "testing/temp_folder.hpp"

namespace knell::sqlite {
namespace {

using namespace std::chrono_literals;

class EachVersion : public ::testing::TestWithParam<int> {
  protected:
    EachVersion() {
        {
            const std::ofstream empty(path_);
        }
        for (const auto& version : versions) {
            if (version.number > written_by()) break;
            // A version wrote rows before the next one changed the schema.
            const auto& migration = migrations[static_cast<std::size_t>(version.number - 1)];
            testing::edit_store(
                path_,
                fmt::format(
                    "PRAGMA synchronous = OFF; BEGIN; {}; PRAGMA application_id = 0x6b6e656c; "
                    "PRAGMA user_version = {}; {}\nCOMMIT;",
                    migration.sql, version.number, version.rows));
        }
        auto opened = open_store({.path = path_, .vfs = {}});
        EXPECT_TRUE(opened) << opened.error().message;
        if (opened) store_ = std::move(*opened);
        auto reader = store_->open_reader();
        EXPECT_TRUE(reader) << reader.error().message;
        if (reader) reader_ = std::move(*reader);
    }

    static int written_by() { return GetParam(); }
    Session found(const std::string& id) {
        const auto session = store_->find(SessionId(id));
        EXPECT_TRUE(session && *session) << id;
        return session && *session ? **session : Session{};
    }

    testing::TempFolder folder_;
    const std::string path_ = folder_.path() + "/knell.db";
    std::unique_ptr<Store> store_;
    std::unique_ptr<Reader> reader_;
};
INSTANTIATE_TEST_SUITE_P(Upto, EachVersion, ::testing::Range(1, 18));

TEST(Migrations, AreAllTriedWithRows) {
    EXPECT_EQ(static_cast<std::size_t>(newest_schema()), versions.size());
    EXPECT_EQ(migrations.size(), versions.size());
}

TEST_P(EachVersion, KeepsWhatAPersonWroteAndTellsOfMoreAfterTheEnd) {
    EXPECT_EQ(found("ended").pinned, written_by() >= 6);
    EXPECT_EQ(found("ended").title, written_by() >= 6 ? "Billing" : "");

    Event update;
    update.seq = 10;
    update.type = EventType::session_update;
    update.session_id = SessionId("ended");
    update.generation = 1;
    update.source = "cli";
    update.title = "Later";
    update.labels = Labels{.title = "Later", .pinned = true};
    update.after_end = true;
    Batch batch;
    batch.events = {update};
    ASSERT_TRUE(store_->commit(batch));

    const auto page = reader_->events({.limit = 10, .session_id = SessionId("ended")});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->events.size(), 3U);
    EXPECT_EQ(page->events[1].type, EventType::session_end);
    EXPECT_EQ(page->events[2], update);
}

TEST_P(EachVersion, FindsWhatEndedLast) {
    const auto page = reader_->latest_ended({.limit = 10});

    ASSERT_TRUE(page) << page.error().message;
    ASSERT_EQ(page->sessions.size(), 1U);
    EXPECT_EQ(page->sessions.front().id.text(), "ended");
}

TEST_P(EachVersion, KeepsItsNameAndItsNumbers) {
    const auto heads = *store_->heads();

    EXPECT_EQ(store_->node_id(), "abcdef0123456789");
    EXPECT_EQ(store_->facts().schema, newest_schema());
    EXPECT_EQ(heads.ordinal, 3);
    EXPECT_EQ(heads.first_seq, 7);
    EXPECT_EQ(heads.seq, 9);
    EXPECT_EQ(heads.last_word->at, from_millis(1'800'000'009'000));
}

TEST_P(EachVersion, KeepsWhatItKnewOfAnOpenSession) {
    Session expected;
    expected.ordinal = 1;
    expected.id = SessionId("open");
    expected.key = "k";
    expected.source = "cli";
    expected.platform = "p";
    expected.user_id = "u";
    expected.parent_id = SessionId("ended");
    expected.relation = Relation::branch;
    expected.model = "m";
    expected.title = "t";
    expected.cwd = "/tmp";
    expected.meta = R"({"a":1})";
    expected.generation = 2;
    expected.owner.process = {41, 42, 43, "boot"};
    expected.owner.lease_ttl = 60s;
    expected.owner.host = "h";
    expected.owner.since = from_millis(1'800'000'000'001);
    expected.started_at = from_millis(1'800'000'000'000);
    expected.last_activity_at = expected.last_seen_at = from_millis(1'800'000'000'002);
    // Before there was a column for it, all activity counted.
    expected.last_interaction_at = from_millis(1'800'000'000'000 + (written_by() >= 12 ? 1 : 2));
    expected.tally = {.messages = 2, .input_tokens = 5, .output_tokens = 7};
    expected.turn_since = from_millis(1'800'000'000'002);
    if (written_by() >= 2) {
        expected.leftovers = LeftoversPolicy::report;
        expected.stalled_since = from_millis(1'800'000'000'008);
    }
    if (written_by() >= 4) expected.former_owners = {{31, 32, 33, "boot"}};
    if (written_by() >= 7) expected.owner.command = "sleep 9";
    if (written_by() >= 8) {
        expected.attached = 2;
        expected.attach_told = true;
    }
    if (written_by() >= 9) expected.turns = 3;
    if (written_by() >= 10) expected.background_since = from_millis(1'800'000'000'009);
    if (written_by() >= 12) {
        expected.chat_type = "dm";
        expected.reset_held_since = from_millis(1'800'000'000'007);
        expected.reset_held_by = {ProcessId("p-0000000000005"), ProcessId("p-0000000000007")};
    }

    EXPECT_EQ(found("open"), expected);
    const auto said = reader_->messages({.session = 1, .limit = 10})->messages;
    EXPECT_EQ(said, (std::vector<Message>{{"user", "hello", "", 5}, {"assistant", "", "tool", 7}}));
}

TEST_P(EachVersion, KeepsWhatItKnewOfALease) {
    const auto leased = found("leased");

    EXPECT_EQ(leased.owner.kind, OwnerKind::lease);
    EXPECT_EQ(leased.owner.lease_ttl, 45s);
    EXPECT_EQ(leased.on_owner_loss, OnOwnerLoss::park);
    EXPECT_EQ(leased.park_window, written_by() >= 2 ? 90s : 0s);
    EXPECT_EQ(leased.last_seen_at, from_millis(1'800'000'000'000 + (written_by() >= 2 ? 3 : 0)));
    EXPECT_EQ(leased.parked_since.has_value(), written_by() >= 2);
    EXPECT_EQ(leased.parked_before.has_value(), written_by() >= 11);
    EXPECT_EQ(leased.park_why, written_by() >= 11 ? "exited, exit 3" : "");
    EXPECT_EQ(leased.lease_from,
              written_by() >= 4 ? std::optional(SteadyTime{77ms}) : std::nullopt);
    EXPECT_EQ(leased.detached_since.has_value(), written_by() >= 8);
}

TEST_P(EachVersion, KeepsHowASessionEnded) {
    End expected;
    expected.reason = Reason::reaped;
    // Before there was a column for it, the reason said how an end is known.
    expected.proof = written_by() >= 4 ? Proof::declared : Proof::inferred;
    expected.detail = "d";
    expected.evidence = "e";
    expected.ended_at = from_millis(1'800'000'000'005);
    expected.ended_after = from_millis(1'800'000'000'004);
    expected.ended_before = from_millis(1'800'000'000'006);
    auto told = expected;
    if (written_by() >= 2) {
        expected.leftovers = {{.process = {61, 62, 0, ""},
                               .found_by = "cookie",
                               .command = "sleep 9",
                               .fate = Fate::unknown}};
        told.leftovers = expected.leftovers;
    }
    if (written_by() >= 5) {
        expected.leftovers.front().process = {61, 62, 63, "boot"};
        expected.leftovers.front().fate = Fate::stopping;
    }

    EXPECT_EQ(found("ended").end, expected);
    const auto events = reader_->events({.after = 6, .limit = 10})->events;
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events.at(0).relation, Relation::branch);
    EXPECT_EQ(events.at(0).title, written_by() >= 6 ? "Billing 2027" : "");
    EXPECT_EQ(events.at(1).end, told);
    EXPECT_EQ(events.at(1).pid, written_by() >= 7 ? 61 : 0);
    EXPECT_EQ(events.at(1).command, written_by() >= 7 ? "sleep 9" : "");
    EXPECT_EQ(events.at(2).detail, "why");
    EXPECT_FALSE(events.at(2).end);
    std::vector<std::string> unsettled;
    EXPECT_TRUE(store_->for_each_unsettled(
        [&](const Session& session) { unsettled.push_back(session.id.text()); }));
    EXPECT_EQ(unsettled.size(), written_by() >= 5 ? 1U : 0U);
}

TEST_P(EachVersion, KeepsItsCountsWithTheProofThatEachReasonHas) {
    EndCounts expected;
    if (written_by() >= 2) {
        expected = {{{Reason::reaped, Proof::inferred}, 3},
                    {{Reason::exited, Proof::observed}, 4},
                    {{Reason::completed, Proof::declared}, 5},
                    {{Reason::idle_expiry, Proof::policy}, 6}};
    }

    EXPECT_EQ(reader_->ends_since({}), expected);
}

TEST_P(EachVersion, KeepsItsSubscribersAndTheirLetters) {
    const auto subscriptions = *reader_->subscriptions();
    const auto letters = *reader_->letters({.limit = 10});
    if (written_by() < 3) {
        EXPECT_TRUE(subscriptions.empty() && letters.empty());
        return;
    }
    const Subscription hook{.name = "hook",
                            .cursor = 8,
                            .state = SubscriberState::paused,
                            .since = from_millis(1'800'000'000'000),
                            .delivered = 5,
                            .failures = 2,
                            .lost = 1,
                            .last_delivery_at = from_millis(1'800'000'000'002),
                            .last_failure_at = from_millis(1'800'000'000'003),
                            .last_error = "refused"};
    const PendingDelivery letter{.subscriber = "hook",
                                 .rendered = {.seq = 7,
                                              .id = "id-7",
                                              .type = "session:start",
                                              .time = "2027-01-15T08:00:00.000Z",
                                              .session_id = "ended",
                                              .json = R"({"seq":7})"},
                                 .state = PendingState::dead,
                                 .attempts = 9,
                                 .waited = 1000ms,
                                 .next_try_at = from_millis(1'800'000'000'009),
                                 .last_error = "refused"};
    EXPECT_EQ(subscriptions, std::vector{hook});
    EXPECT_EQ(letters, std::vector{letter});
}

TEST_P(EachVersion, KeepsItsBackgroundProcesses) {
    const auto page = *reader_->processes({.exited_since = WallTime{}, .limit = 10});
    const auto told = reader_->events({.after = 8, .limit = 1})->events.at(0);
    EXPECT_EQ(store_->heads()->process_number, written_by() >= 10 ? 6 : 0);
    if (written_by() < 10) {
        EXPECT_TRUE(page.processes.empty());
        EXPECT_FALSE(told.process);
        EXPECT_FALSE(told.after_end);
        return;
    }
    const auto time = [](int last) { return from_millis(1'800'000'000'000 + last); };
    BackgroundProcess server;
    server.number = 5;
    server.id = ProcessId("p-0000000000005");
    server.session_id = SessionId("open");
    server.generation = 2;
    server.process = {71, 72, 73, "boot"};
    server.argv = {"sh", "a\nb"};
    server.started_at = time(1);
    server.activity.since = time(2);
    // What a later version adds to the text is not in it.
    EXPECT_EQ(told.process, server);
    EXPECT_TRUE(told.after_end);
    EXPECT_FALSE(told.labels);

    server.task_id = "t";
    server.cwd = "/srv";
    server.title = "server";
    server.activity = {ProcessActivity::listening, time(2), "e"};
    server.stale_since = time(3);
    server.vouched_until = time(4);
    server.stop_asked_at = time(5);
    server.stop_asked_by = "a person";
    BackgroundProcess left;
    left.number = 6;
    left.id = ProcessId("p-0000000000006");
    left.session_id = SessionId("ended");
    left.generation = 1;
    left.origin = ProcessOrigin::leftover;
    left.process = {71, 72, 74, "boot"};
    left.started_at = time(1);
    left.activity.since = time(2);
    left.exit = ProcessExit{ExitKind::signaled, 9, "e", time(5), time(4), time(6)};
    EXPECT_EQ(page.processes,
              (std::vector<ProcessOnRecord>{{left, ProcessOnRecord::Session::ended},
                                            {server, ProcessOnRecord::Session::open}}));
}

TEST_P(EachVersion, KeepsWhatItKnewOfResetsAndFindsSessionsByKeyAndParent) {
    const auto ended = found("ended");
    const auto told = reader_->events({.after = 6, .limit = 1})->events.at(0);
    if (written_by() < 12) {
        EXPECT_FALSE(ended.suspended_at || ended.summary_lost || told.compression);
        EXPECT_TRUE(told.blockers.empty());
    } else {
        EXPECT_EQ(ended.suspended_at, from_millis(1'800'000'000'008));
        EXPECT_EQ(ended.suspend_why, "a person");
        EXPECT_TRUE(ended.summary_lost);
        const Blocker blocker{.process_id = ProcessId("p-0000000000005"),
                              .pid = 71,
                              .command = "sh a\tb",
                              .started_at = from_millis(1'800'000'000'001),
                              .activity = ProcessActivity::waiting,
                              .vouched_until = {},
                              .until = from_millis(1'800'000'000'004)};
        EXPECT_EQ(told.blockers, std::vector{blocker});
        EXPECT_EQ(told.compression,
                  (Compression{CompressOutcome::tail, SessionId("open"), "local"}));
    }
    EXPECT_EQ(told.stuck.has_value(), written_by() >= 14);
    EXPECT_EQ(told.stuck.value_or(Stuck{}).level,
              written_by() < 14 ? NudgeLevel::advice : NudgeLevel::warning);
    const auto of_key = store_->newest_of_key("k");
    ASSERT_TRUE(of_key && *of_key);
    EXPECT_EQ((*of_key)->id.text(), "open");
    const auto child = store_->newest_child(SessionId("ended"), Relation::branch);
    ASSERT_TRUE(child && *child);
    EXPECT_EQ((*child)->id.text(), "open");
    const auto other = store_->newest_child(SessionId("ended"), Relation::reset);
    ASSERT_TRUE(other);
    EXPECT_FALSE(*other);
}

TEST_P(EachVersion, KeepsItsTimes) {
    const auto heads = *store_->heads();

    if (written_by() < 4) {
        EXPECT_EQ(heads.listened, SteadyTime{});
        EXPECT_TRUE(heads.lives.empty() && heads.log_marks.empty());
        EXPECT_FALSE(heads.log_age);
        return;
    }
    EXPECT_EQ(heads.listened, SteadyTime{123ms});
    EXPECT_EQ(heads.lives, (std::vector{SteadyTime{10ms}, SteadyTime{20ms}}));
    EXPECT_EQ(heads.log_age, (LogAge{3'600'001ms, "boot", SteadyTime{99ms}}));
    EXPECT_EQ(heads.log_marks, (std::vector<LogMark>{{8, 3'600'000ms}}));
}

TEST_P(EachVersion, WhatWasSaidIsFoundAndCounted) {
    auto& archive = archive_of(*reader_);
    SearchQuery query;
    query.terms = *parse_search_terms("hello");
    query.limit = 10;
    for (const bool in_index : {false, true}) {
        if (in_index) {
            EXPECT_FALSE(archive_of(*store_).index_messages(SIZE_MAX, SIZE_MAX).value());
        }
        const auto page = archive.search(query);
        ASSERT_TRUE(page) << page.error().message;
        ASSERT_EQ(page->messages.size(), 1U);
        EXPECT_EQ(page->messages.front().session_id.text(), "open");
        EXPECT_EQ(page->messages.front().number, 1);
    }
    const auto stats = archive.stats(from_millis(0));
    ASSERT_TRUE(stats);
    const auto& day = stats->days.at({500'000 / 24, "cli"});
    EXPECT_EQ(day.starts, 1) << "what the log still says";
    EXPECT_EQ(day.ends, (std::map<Reason, std::int64_t>{{Reason::reaped, 1}}));
    EXPECT_EQ(day.input_tokens, 5);
    EXPECT_EQ(day.output_tokens, 7);
    EXPECT_EQ(stats->days.contains({500'000 / 24, "gateway"}), written_by() >= 17);
}

TEST_P(EachVersion, CanBeWrittenOn) {
    Batch batch;
    Ended ended{{SessionId("open"), /*ordinal=*/1, /*generation=*/2}, {}};
    ended.end.ended_at = ended.end.ended_after = ended.end.ended_before = from_millis(1);
    batch.changes = {ended};
    Event event;
    event.seq = 10;
    event.type = EventType::session_end;
    event.session_id = SessionId("open");
    event.generation = 2;
    event.end = ended.end;
    batch.events = {event};

    const auto written = store_->commit(batch);

    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(found("open").end);
    EXPECT_EQ(reader_->ends_since({})->at({Reason::completed, Proof::declared}),
              written_by() >= 2 ? 6 : 1);
}

}  // namespace
}  // namespace knell::sqlite
