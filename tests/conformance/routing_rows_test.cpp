// What a store keeps for routing, resets and compressions, held against each store by itself.

#include <gmock/gmock.h>

#include "readable.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto noon = from_millis(1'800'000'000'000);

Session session(Ordinal ordinal, const std::string& id) {
    Session session;
    session.ordinal = ordinal;
    session.id = SessionId(id);
    session.source = "gateway";
    session.owner = process_owner(100);
    session.started_at = session.last_activity_at = session.last_seen_at = noon;
    session.last_interaction_at = noon;
    return session;
}

Message said(const std::string& what) {
    return {.role = "user", .content = what, .tool_name = "", .tokens = 1};
}

class RoutingRows : public ::testing::TestWithParam<StoreKind> {
  protected:
    Store& store() { return under_test_->store(); }
    void must(std::vector<Change> changes) {
        Batch batch;
        batch.changes = std::move(changes);
        const auto written = store().commit(batch);
        ASSERT_TRUE(written) << written.error().message;
    }
    void open(Session session) { must({Opened{.session = std::move(session), .reaper = {}}}); }
    Session found(const std::string& id) {
        under_test_->reopen();
        return store().find(SessionId(id)).value().value();
    }
    std::vector<std::string> messages(Ordinal ordinal) {
        std::vector<std::string> contents;
        const auto reader = store().open_reader();
        for (const auto& message :
             (*reader)->messages({.session = ordinal, .limit = 100})->messages) {
            contents.push_back(message.content);
        }
        return contents;
    }
    std::string of_key(const std::string& key) {
        const auto newest = store().newest_of_key(key).value();
        return newest ? newest->id.text() : "none";
    }
    std::string child_of(const std::string& parent, Relation relation) {
        const auto newest = store().newest_child(SessionId(parent), relation).value();
        return newest ? newest->id.text() : "none";
    }
    static SessionRef ref(const Session& session) {
        return {session.id, session.ordinal, session.generation};
    }

    std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
    const Session a_ = session(1, "a");
};
INSTANTIATE_TEST_SUITE_P(EveryStore, RoutingRows, ::testing::ValuesIn(store_kinds_on_disk()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(RoutingRows, ASessionComesBackWithAllItWasOpenedWith) {
    auto with_more = session(1, "a");
    with_more.chat_type = "group";
    with_more.last_interaction_at = noon - 1h;
    with_more.summary_lost = true;
    open(with_more);

    EXPECT_EQ(found("a"), with_more);
}

TEST_P(RoutingRows, EightInARowKeepWhatSetsOneOfThemApart) {
    std::vector<Change> changes;
    for (Ordinal ordinal = 1; ordinal <= 20; ++ordinal) {
        auto one = session(ordinal, "s" + std::to_string(ordinal));
        if (ordinal == 12) one.chat_type = "dm";
        changes.emplace_back(Opened{.session = std::move(one), .reaper = {}});
    }
    must(std::move(changes));

    EXPECT_EQ(found("s11").chat_type, "");
    EXPECT_EQ(found("s12").chat_type, "dm");
    EXPECT_EQ(found("s20").last_interaction_at, noon);
}

TEST_P(RoutingRows, WhatAMachineDoesIsActivityAndNoInteraction) {
    open(a_);
    Appended append{ref(a_), 1, {said("x")}, {1, 1, 0}, noon + 5s};
    append.is_interaction = false;
    must({append});
    EXPECT_EQ(found("a").last_interaction_at, noon);
    EXPECT_EQ(found("a").last_activity_at, noon + 5s);

    append = {ref(a_), 2, {said("y")}, {2, 2, 0}, noon + 6s};
    must({append});
    EXPECT_EQ(found("a").last_interaction_at, noon + 6s);

    TurnSet turn{ref(a_), noon + 7s, noon + 7s};
    turn.is_interaction = false;
    must({turn});
    EXPECT_EQ(found("a").last_interaction_at, noon + 6s);
    EXPECT_EQ(found("a").last_activity_at, noon + 7s);
    must({TurnSet{ref(a_), {}, noon + 8s}});
    EXPECT_EQ(found("a").last_interaction_at, noon + 8s);
}

TEST_P(RoutingRows, OneThatIsOpenedAgainByAMessageWasSpokenTo) {
    open(a_);
    auto next = ref(a_);
    Reopened reopened{{next.id, next.ordinal, 2}};
    reopened.owner = process_owner(200);
    reopened.at = noon + 5s;
    must({reopened});
    EXPECT_EQ(found("a").last_interaction_at, noon) << "somebody took it over";

    reopened.generation = 3;
    reopened.at = noon + 6s;
    reopened.is_interaction = true;
    must({reopened});
    EXPECT_EQ(found("a").last_interaction_at, noon + 6s);
}

TEST_P(RoutingRows, AnInteractionMovesItsTimesOnAndShowsNobody) {
    open(a_);
    must({Interacted{ref(a_), noon + 5s}});
    EXPECT_EQ(found("a").last_interaction_at, noon + 5s);
    EXPECT_EQ(found("a").last_activity_at, noon + 5s);
    EXPECT_EQ(found("a").last_seen_at, noon);

    // It was written down late.
    must({Appended{ref(a_), 1, {said("x")}, {1, 1, 0}, noon + 9s}, Interacted{ref(a_), noon + 7s}});
    EXPECT_EQ(found("a").last_interaction_at, noon + 7s);
    EXPECT_EQ(found("a").last_activity_at, noon + 9s);
    EXPECT_EQ(found("a").last_seen_at, noon + 9s);
}

TEST_P(RoutingRows, AnEndLetsGoOfAHeldResetAndKeepsASuspension) {
    open(a_);
    must({ResetHeld{ref(a_), noon + 1s, {ProcessId::from_bits(7), ProcessId::from_bits(8)}},
          Suspended{ref(a_), noon + 2s, "a person\n\tsaid so"}});
    EXPECT_EQ(found("a").reset_held_since, noon + 1s);
    EXPECT_THAT(found("a").reset_held_by,
                ElementsAre(ProcessId::from_bits(7), ProcessId::from_bits(8)));

    Ended ended{ref(a_), {}};
    ended.end.ended_at = ended.end.ended_after = ended.end.ended_before = noon + 3s;
    must({ended});
    EXPECT_FALSE(found("a").reset_held_since);
    EXPECT_THAT(found("a").reset_held_by, IsEmpty());
    EXPECT_EQ(found("a").suspended_at, noon + 2s);

    must({Suspended{ref(a_), noon + 4s, ""}});
    EXPECT_EQ(found("a").suspended_at, noon + 4s);
    EXPECT_EQ(found("a").suspend_why, "");
    must({Reopened{{a_.id, a_.ordinal, 2}}});
    EXPECT_EQ(found("a").suspended_at, noon + 4s);
}

TEST_P(RoutingRows, AHeldResetIsLetGoOfByAWordOrByTheNextOwner) {
    open(a_);
    const ResetHeld held{ref(a_), noon + 1s, {ProcessId::from_bits(7)}};
    must({held, ResetHeld{ref(a_), {}, {}}});
    EXPECT_EQ(found("a"), a_);

    must({held, Reopened{{a_.id, a_.ordinal, 2}}});
    EXPECT_FALSE(found("a").reset_held_since);
    EXPECT_THAT(found("a").reset_held_by, IsEmpty());
}

TEST_P(RoutingRows, MessagesAreCopiedBehindThoseThatAreThere) {
    open(a_);
    must({Appended{ref(a_), 1, {said("1"), said("2")}, {2, 2, 0}, noon}});
    const auto b = session(2, "b");

    // One more is said in the very batch that copies them.
    must({Appended{ref(a_), 3, {said("3")}, {3, 3, 0}, noon}, Opened{.session = b, .reaper = {}},
          Appended{ref(b), 1, {said("summary")}, {1, 9, 0}, noon + 1s},
          MessagesCopied{ref(b), a_.ordinal, /*after=*/1, /*first_number=*/2, {3, 11, 0}}});

    const auto child = found("b");
    EXPECT_THAT(messages(2), ElementsAre("summary", "2", "3"));
    EXPECT_THAT(messages(1), ElementsAre("1", "2", "3"));
    EXPECT_EQ(child.tally, (Tally{3, 11, 0}));
    EXPECT_EQ(child.last_activity_at, noon + 1s);
    must({Appended{ref(b), 4, {said("4")}, {4, 12, 0}, noon + 2s}});
    EXPECT_THAT(messages(2), ElementsAre("summary", "2", "3", "4"));
}

TEST_P(RoutingRows, NothingIsCopiedWhereNothingIs) {
    open(a_);
    open(session(2, "b"));
    const auto b = ref(session(2, "b"));
    must({MessagesCopied{b, a_.ordinal, 0, 1, {}}, MessagesCopied{b, /*from=*/99, 0, 1, {}}});
    must({Appended{ref(a_), 1, {said("1")}, {1, 1, 0}, noon}});
    must({MessagesCopied{b, a_.ordinal, /*after=*/1, 1, {}}});

    EXPECT_THAT(messages(2), IsEmpty());
}

TEST_P(RoutingRows, ACopyOntoMessagesThatAreThereIsRefused) {
    open(a_);
    open(session(2, "b"));
    must({Appended{ref(a_), 1, {said("1")}, {1, 1, 0}, noon}});
    Batch copy;
    copy.changes = {MessagesCopied{ref(session(2, "b")), a_.ordinal, 0, 1, {1, 1, 0}}};
    ASSERT_TRUE(store().commit(copy));
    const auto before = read_all(store());

    EXPECT_FALSE(store().commit(copy));

    EXPECT_EQ(difference(before, read_all(store())), "");
}

TEST_P(RoutingRows, TheNewestOfAKeyIsFoundOpenOrEnded) {
    for (const auto& [ordinal, key] : {std::pair(1, "k"), {2, "k"}, {3, "other"}, {4, ""}}) {
        auto one = session(ordinal, "s" + std::to_string(ordinal));
        one.key = key;
        open(one);
    }
    EXPECT_EQ(of_key("k"), "s2");
    EXPECT_EQ(of_key("other"), "s3");
    EXPECT_EQ(of_key(""), "none") << "it means that there is none";
    EXPECT_EQ(of_key("K"), "none");

    Ended ended{{SessionId("s2"), 2, 1}, {}};
    ended.end.ended_at = ended.end.ended_after = ended.end.ended_before = noon;
    must({ended});
    EXPECT_EQ(of_key("k"), "s2");
}

TEST_P(RoutingRows, TheNewestChildOfAKindIsFound) {
    const auto child = [&](Ordinal ordinal, const std::string& parent, Relation relation) {
        auto one = session(ordinal, "s" + std::to_string(ordinal));
        one.parent_id = SessionId(parent);
        one.relation = relation;
        open(one);
    };
    child(1, "", Relation::none);
    child(2, "s1", Relation::compression);
    child(3, "s1", Relation::compression);
    child(4, "s1", Relation::subagent);
    child(5, "s2", Relation::compression);
    child(6, "s1", Relation::none);

    EXPECT_EQ(child_of("s1", Relation::compression), "s3");
    EXPECT_EQ(child_of("s1", Relation::subagent), "s4");
    EXPECT_EQ(child_of("s1", Relation::none), "s6");
    EXPECT_EQ(child_of("s2", Relation::compression), "s5");
    EXPECT_EQ(child_of("s1", Relation::reset), "none");
    EXPECT_EQ(child_of("s3", Relation::compression), "none");
    EXPECT_EQ(child_of("", Relation::none), "none");
}

TEST_P(RoutingRows, EventsTellOfBlockersCompressionsAndStuckAgents) {
    Event held;
    held.seq = 1;
    held.type = EventType::session_reset_deferred;
    held.session_id = SessionId("a");
    held.blockers = {{.process_id = ProcessId::from_bits(7),
                      .pid = 9,
                      .command = "make\t\n\\",
                      .started_at = noon,
                      .activity = ProcessActivity::listening,
                      .vouched_until = noon + 1s,
                      .until = {}},
                     {}};
    Event compressed;
    compressed.seq = 2;
    compressed.type = EventType::session_compress;
    compressed.session_id = SessionId("a");
    compressed.compression = {CompressOutcome::tail, SessionId("b"), "local\t"};
    Event stuck;
    stuck.seq = 3;
    stuck.type = EventType::agent_stuck;
    stuck.session_id = SessionId("a");
    stuck.stuck = Stuck{.kind = NudgeKind::same_tool,
                        .level = NudgeLevel::warning,
                        .streak = 24,
                        .tool = "Look\t",
                        .other_tool = "",
                        .error = "a\nb"};
    stuck.detail = "Look was called 24 times";
    Batch batch;
    batch.events = {held, compressed, stuck};
    ASSERT_TRUE(store().commit(batch));
    under_test_->reopen();

    EXPECT_THAT(read_all(store()).events, ElementsAre(held, compressed, stuck));
}

}  // namespace
}  // namespace knell::testing
