#include "stores.hpp"

namespace knell::testing {
namespace {

using Ids = std::vector<std::string>;

class Life : public StoreStory {};
INSTANTIATE_TEST_SUITE_P(EveryStore, Life, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Life, EveryFieldSurvivesARestart) {
    Create command = create("a", "gateway");
    auto& draft = command.draft;
    draft.key = "agent:main:telegram:dm:42";
    draft.platform = "telegram";
    draft.user_id = "42";
    draft.chat_type = "dm";
    draft.parent_id = SessionId("p");
    draft.relation = Relation::branch;
    draft.model = "m-1";
    draft.title = "Grüße, 世界";
    draft.cwd = "/home/a b";
    draft.meta = R"({"x":[1,null]})";
    draft.on_owner_loss = OnOwnerLoss::park;
    draft.park_window = std::chrono::seconds{77};
    draft.leftovers = LeftoversPolicy::stop;
    draft.owner.lease_ttl = std::chrono::seconds{900};
    ASSERT_TRUE(journal().one(command, at(1)));
    ASSERT_TRUE(journal().one(append("a", 1, {"hello"}), at(2)));
    ASSERT_TRUE(journal().one(turn("a", 1, true), at(3)));

    const auto before = shown("a");
    restart();

    EXPECT_EQ(shown("a"), before);
    Session expected = command.draft;
    expected.ordinal = 1;
    expected.started_at = expected.owner.since = at(1).wall;
    expected.last_activity_at = expected.last_seen_at = at(3).wall;
    expected.last_interaction_at = at(3).wall;
    expected.turn_since = at(3).wall;
    expected.turns = 1;
    expected.lease_from = at(1).steady;
    expected.tally = {.messages = 1, .input_tokens = 3, .output_tokens = 0};
    EXPECT_EQ(before, expected);
    EXPECT_EQ(journal().state.open_count(), 1U);
    EXPECT_EQ(journal().state.count(Status::running), 1U);
}

TEST_P(Life, TurnsAreCountedWhenTheyBegin) {
    journal().one(create("a"), at(0));
    for (const bool on : {true, true, false, false, true}) {
        ASSERT_TRUE(journal().one(turn("a", 1, on), at(1)));
    }
    EXPECT_EQ(shown("a").turns, 2);
    journal().one(close("a"), at(2));
    journal().one(resume("a"), at(3));
    ASSERT_TRUE(journal().one(turn("a", 2, true), at(4)));
    EXPECT_EQ(shown("a").turns, 3) << "of all generations, as messages are";
}

TEST_P(Life, AStepHandsOutTheEventsThatItMadeDurable) {
    const auto step = journal().step(
        {create("a"), close("a", 1, Reason::completed), resume("a"), create("a")}, at(1));

    const auto page = reader().events({.limit = 100});
    ASSERT_TRUE(page);
    EXPECT_EQ(step.events.size(), 3U);
    EXPECT_EQ(step.events, page->events);
}

TEST_P(Life, AnEndHasItsReasonProofAndBounds) {
    journal().one(create("a"), at(0));
    const auto closed = journal().one(close("a", 1, Reason::signaled), at(9));

    ASSERT_TRUE(closed);
    const auto session = shown("a");
    ASSERT_TRUE(session.end);
    EXPECT_EQ(session.end->reason, Reason::signaled);
    EXPECT_EQ(session.end->proof, Proof::declared) << "a claim, whatever the word";
    EXPECT_EQ(session.end->detail, "said so");
    EXPECT_EQ(session.end->evidence, "session.close by the test");
    EXPECT_EQ(session.end->ended_at, at(9).wall);
    EXPECT_LE(session.end->ended_after, session.end->ended_at);
    EXPECT_LE(session.end->ended_at, session.end->ended_before);
    EXPECT_EQ(journal().state.open_count(), 0U);
}

TEST_P(Life, TheParentOfACommandSawHowItEnded) {
    auto command = create("a", process_owner(100));
    command.draft.leftovers = LeftoversPolicy::report;
    command.reaper = {99, process_owner(99).process.start_ticks};
    command.reaper_is_parent = true;
    journal().group({command, create("b", process_owner(100))}, at(0));
    auto waited = close("a", 1, Reason::exited);
    waited.caller = process_owner(99).process;
    waited.is_over = true;
    auto stranger = close("b", 1, Reason::exited);
    stranger.caller = process_owner(99).process;

    journal().group({waited, stranger}, at(9));

    EXPECT_EQ(shown("a").end->proof, Proof::observed);
    EXPECT_EQ(shown("a").end->evidence, "the test, the command's parent, waited for it");
    EXPECT_EQ(shown("b").end->proof, Proof::declared);
    const auto ends = reader().ends_since(at(0).wall);
    ASSERT_TRUE(ends);
    EXPECT_EQ(ends->at({Reason::exited, Proof::observed}), 1);
    EXPECT_EQ(ends->at({Reason::exited, Proof::declared}), 1);
}

TEST_P(Life, ACommandEndedBeforeAnybodySaidSo) {
    auto command = create("known", process_owner(100));
    command.draft.leftovers = LeftoversPolicy::report;
    auto unseen = create("unseen", lease_owner());
    unseen.draft.leftovers = LeftoversPolicy::report;
    auto whole = create("whole", process_owner(101));
    whole.and_close = close("whole", {}, Reason::completed);
    whole.and_close->at = at(9).wall;
    whole.at = at(2).wall;
    journal().group({command, unseen}, at(0));

    // Not its parent, as far as this daemon knows.
    journal().group(
        {close("known", 1, Reason::exited), close("unseen", 1, Reason::completed), whole}, at(9));

    EXPECT_EQ(shown("known").end->ended_after, at(0).wall) << "nobody has looked since";
    EXPECT_EQ(shown("unseen").end->ended_after, at(0).wall);
    EXPECT_EQ(shown("whole").end->ended_after, at(2).wall) << "then it was held, and lived";
    for (const auto* id : {"known", "unseen", "whole"}) {
        EXPECT_EQ(shown(id).end->ended_before, at(9).wall) << id;
    }
}

TEST_P(Life, ASessionBeginsWhenItsCreateArrives) {
    const std::vector arrived{at(3)};
    std::vector<Input> inputs;
    inputs.emplace_back(create("a", process_owner(100)));
    journal().journal.commit(std::move(inputs), at(9), arrived);

    EXPECT_EQ(shown("a").started_at, at(3).wall) << "only then its owner was seen to live";
    EXPECT_EQ(shown("a").owner.since, at(3).wall);
}

TEST_P(Life, WhoHasThePidOfTheParentLaterSawNothing) {
    auto command = create("a", process_owner(100));
    command.draft.leftovers = LeftoversPolicy::report;
    command.reaper = {99, process_owner(99).process.start_ticks};
    command.reaper_is_parent = true;
    journal().one(command, at(0));
    auto claim = close("a", 1, Reason::signaled);
    claim.caller = process_owner(99).process;
    claim.is_over = true;
    claim.caller->start_ticks = 8;  // after the command, which a parent never is

    journal().one(claim, at(9));

    EXPECT_EQ(shown("a").end->proof, Proof::declared);
}

TEST_P(Life, AFormerOwnerDoesNotEndTheNextGenerationByMistake) {
    journal().one(create("a", process_owner(100)), at(0));
    journal().one(resume("a", /*takeover=*/true), at(1));  // process 200
    restart(at(2));
    auto stale = close("a");
    stale.caller = process_owner(100).process;

    const auto refused = journal().one(stale, at(3));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::fenced);
    EXPECT_EQ(std::get<FencedBy>(refused.error().facts).generation, 2U);
    EXPECT_FALSE(shown("a").end);
    // Another process is a person's word, and the owner itself may always end it.
    auto own = close("a");
    own.caller = process_owner(200).process;
    EXPECT_TRUE(journal().one(own, at(4)));
}

TEST_P(Life, WhoOwnsItAgainMayEndIt) {
    journal().one(create("a", process_owner(200)), at(0));
    journal().one(close("a"), at(1));
    journal().one(resume("a"), at(2));
    auto own = close("a");
    own.caller = process_owner(200).process;

    EXPECT_TRUE(journal().one(own, at(3)));
    EXPECT_TRUE(shown("a").end);
}

/// It was spooled whole: where it could not be closed at once its end would be lost.
TEST_P(Life, OneThatIsOverComesAfterTheEndOfTheOneBefore) {
    journal().one(create("a"), at(0));
    auto whole = resume("a");
    whole.at = at(2).wall;
    whole.and_close = close("a");
    whole.and_close->at = at(3).wall;

    const auto replies = journal().group({gone(100, exited(0)), whole}, at(5));
    ASSERT_FALSE(replies[1]) << "its owner was seen to go, which is not on record yet";
    EXPECT_EQ(replies[1].error().code, ErrorCode::owned);
    ASSERT_TRUE(shown("a").end);

    EXPECT_TRUE(journal().one(whole, at(6)));
    EXPECT_EQ(shown("a").generation, 2U);
    ASSERT_TRUE(shown("a").end);
    EXPECT_EQ(shown("a").end->reason, Reason::completed);
}

TEST_P(Life, NoSessionComesOutOfItself) {
    const auto child_of = [](const std::string& id, const std::string& parent) {
        auto command = create(id);
        command.draft.parent_id = SessionId(parent);
        return command;
    };
    // Their parents are named before they are there.
    auto spooled = child_of("b", "c");
    spooled.and_close = close("b");

    const auto replies = journal().group(
        {child_of("a", "b"), spooled, child_of("c", "a"), child_of("d", "d"), child_of("e", "a")},
        at(0));

    EXPECT_TRUE(replies[0]);
    EXPECT_TRUE(replies[1]);
    ASSERT_FALSE(replies[2]) << "c is the parent of b, which is the parent of a";
    EXPECT_EQ(replies[2].error().code, ErrorCode::invalid_params);
    EXPECT_EQ(replies[2].error().field, "parent_id");
    EXPECT_FALSE(replies[3]);
    EXPECT_TRUE(replies[4]);
}

TEST_P(Life, TokenSumsStayAtTheHighestNumberThereIs) {
    journal().one(create("a"));
    auto much = append("a", 1, {"x"});
    much.messages[0].tokens = INT64_MAX - 1;
    journal().one(much);
    journal().one(much);

    EXPECT_EQ(shown("a").tally.input_tokens, INT64_MAX);
    EXPECT_EQ(shown("a").tally.messages, 2);
}

TEST_P(Life, MessagesComeBackInOrder) {
    journal().one(create("a"));
    journal().one(append("a", 1, {"one", "two"}));
    journal().group({append("a", 1, {"three"}), append("a", 1, {"four", "five"})});

    MessageQuery query{.session = shown("a").ordinal, .limit = 3};
    const auto newest = reader().messages(query);

    ASSERT_TRUE(newest);
    ASSERT_EQ(newest->messages.size(), 3U);
    EXPECT_EQ(newest->messages[0].content, "three");
    EXPECT_EQ(newest->messages[2].content, "five");
    ASSERT_TRUE(newest->next);
    query.before = newest->next;
    const auto older = reader().messages(query);
    ASSERT_EQ(older->messages.size(), 2U);
    EXPECT_EQ(older->messages[0].content, "one");
    EXPECT_FALSE(older->next);
    EXPECT_EQ(shown("a").tally, (Tally{.messages = 5, .input_tokens = 15, .output_tokens = 0}));
}

TEST_P(Life, PagesEndByBytesAndGoOn) {
    journal().one(create("a"));
    journal().one(create("b"));
    const std::string large(10'000, 'x');
    journal().one(append("a", 1, {large + "1", large + "2", large + "3"}));

    std::string ends;
    MessageQuery query{.session = shown("a").ordinal, .limit = 100, .before = {}, .bytes_max = 1};
    do {
        const auto page = reader().messages(query);
        ASSERT_EQ(page->messages.size(), 1U);
        ends += page->messages.front().content.back();
        query.before = page->next;
    } while (query.before);
    EXPECT_EQ(ends, "321");
    query.bytes_max = 20'000;
    EXPECT_EQ(reader().messages(query)->messages.size(), 2U);

    SessionQuery sessions;
    sessions.all = true;
    sessions.limit = 100;
    sessions.bytes_max = 1;
    const auto first = reader().list(sessions);
    ASSERT_EQ(first->sessions.size(), 1U);
    sessions.before = first->next;
    const auto second = reader().list(sessions);
    ASSERT_EQ(second->sessions.size(), 1U);
    EXPECT_EQ(second->sessions[0].id.text(), "a");
    EXPECT_FALSE(second->next);

    EventQuery events{.after = 0, .limit = 100, .types = {}, .session_id = {}, .bytes_max = 1};
    std::size_t seen = 0;
    for (;;) {
        const auto page = reader().events(events);
        if (page->events.empty()) break;
        ASSERT_EQ(page->events.size(), 1U);
        EXPECT_EQ(page->next, page->events.front().seq);
        events.after = page->next;
        ++seen;
    }
    EXPECT_EQ(seen, static_cast<std::size_t>(events.after));
    events.after = 0;
    events.session_id = SessionId("b");
    const auto of_b = reader().events(events);
    ASSERT_EQ(of_b->events.size(), 1U);
    EXPECT_EQ(of_b->next, of_b->events[0].seq);
}

TEST_P(Life, OneGroupMayHoldAWholeLifeAndTheNext) {
    const auto replies = journal().group({create("a"), append("a", 1, {"x"}), close("a", 1),
                                          close("a", 1), resume("a"), append("a", 2, {"y"}),
                                          append("a", 1, {"stale"}), resume("a"), close("a")});

    ASSERT_EQ(replies.size(), 9U);
    for (const auto index : {0U, 1U, 2U, 3U, 4U, 5U, 8U}) EXPECT_TRUE(replies[index]) << index;
    EXPECT_FALSE(std::get<ClosedReply>(*replies[2]).already_ended);
    EXPECT_TRUE(std::get<ClosedReply>(*replies[3]).already_ended);
    EXPECT_EQ(replies[6].error().code, ErrorCode::fenced);
    EXPECT_EQ(replies[7].error().code, ErrorCode::owned);
    EXPECT_EQ(shown("a").generation, 2U);
}

TEST_P(Life, ATakeoverEndsTheOldGenerationBeforeTheNewOneStarts) {
    journal().one(create("a"));
    journal().one(turn("a", 1, true));
    const auto taken = journal().one(resume("a", /*takeover=*/true), at(5));

    ASSERT_TRUE(taken);
    EXPECT_EQ(std::get<OpenedReply>(*taken).generation, 2U);
    const auto events = reader().events({.after = 2, .limit = 10});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->events.size(), 3U);
    EXPECT_EQ(events->events[0].type, EventType::agent_end);
    EXPECT_EQ(events->events[1].type, EventType::session_end);
    EXPECT_EQ(events->events[1].generation, 1U);
    EXPECT_EQ(events->events[1].end->reason, Reason::superseded);
    EXPECT_EQ(events->events[2].type, EventType::session_start);
    EXPECT_EQ(events->events[2].generation, 2U);
    EXPECT_EQ(journal().one(append("a", 1, {"stale"})).error().code, ErrorCode::fenced);
    EXPECT_FALSE(shown("a").turn_since);
}

TEST_P(Life, AResumedSessionKeepsItsMessages) {
    journal().one(create("a"));
    journal().one(append("a", 1, {"before"}));
    journal().one(close("a"));
    restart();
    ASSERT_TRUE(journal().one(resume("a")));
    ASSERT_TRUE(journal().one(append("a", 2, {"after"})));

    EXPECT_EQ(shown("a").tally.messages, 2);
    EXPECT_FALSE(shown("a").end);
}

TEST_P(Life, FiltersComeBeforeTheLimit) {
    for (int i = 0; i < 30; ++i) {
        const auto id = std::to_string(i);
        journal().one(create(id, i % 10 == 0 ? "rare" : "cli"));
        if (i % 2 == 0) journal().one(close(id));
    }
    EXPECT_EQ(listed({.source = "rare", .limit = 2}), (Ids{"20", "10"}));
    EXPECT_EQ(listed({.ended = false, .limit = 2}), (Ids{"29", "27"}));
    EXPECT_EQ(listed({.status = Status::ended, .limit = 2}), (Ids{"28", "26"}));
    EXPECT_EQ(listed({.source = "rare", .ended = false}), Ids{});
    EXPECT_EQ(listed({.status = Status::idle, .ended = true}), Ids{});
    journal().one(turn("3", 1, true));
    EXPECT_EQ(listed({.status = Status::running}), Ids{"3"});
}

TEST_P(Life, PagesNeitherRepeatNorMiss) {
    for (int i = 0; i < 25; ++i) journal().one(create(std::to_string(i)));
    Ids seen;
    SessionQuery query{.limit = 7};
    do {
        const auto page = reader().list(query);
        ASSERT_TRUE(page);
        for (const auto& session : page->sessions) seen.push_back(session.id.text());
        query.before = page->next;
        journal().one(create("late-" + std::to_string(seen.size())));  // newer: not on later pages
    } while (query.before);
    ASSERT_EQ(seen.size(), 25U);
    EXPECT_EQ(seen.front(), "24");
    EXPECT_EQ(seen.back(), "0");
}

TEST_P(Life, MachineMadeAndEmptySessionsAreFoldedAway) {
    auto child = create("child");
    child.draft.parent_id = SessionId("talk");
    child.draft.relation = Relation::subagent;
    auto titled = create("titled");
    titled.draft.title = "claude";
    journal().group({create("talk"), child, create("job", "cron"), create("helper", "subagent"),
                     create("nothing"), titled});
    journal().group({append("talk", 1, {"hi"}), close("talk"), close("nothing"), close("titled")});

    EXPECT_EQ(listed({}), (Ids{"titled", "talk"}));
    EXPECT_EQ(listed({.ended = true}), (Ids{"titled", "nothing", "talk"}));
    EXPECT_EQ(listed({.source = "cron"}), Ids{"job"});
    EXPECT_EQ(listed({.all = true}).size(), 6U);
    journal().one(resume("nothing"));
    EXPECT_EQ(listed({}), (Ids{"titled", "nothing", "talk"}));
}

TEST_P(Life, EventsAreFilteredByTypeAndSession) {
    journal().group({create("a"), create("b"), turn("a", 1, true), turn("b", 1, true), close("b"),
                     close("a"), resume("a")});

    const auto ends = reader().events({.limit = 10, .types = {EventType::session_end}});
    const auto of_a = reader().events({.after = 1, .limit = 10, .session_id = SessionId("a")});

    ASSERT_TRUE(ends && of_a);
    ASSERT_EQ(ends->events.size(), 2U);
    EXPECT_EQ(ends->events[0].session_id.text(), "b");
    Seq last = 1;
    for (const auto& event : of_a->events) {
        EXPECT_EQ(event.session_id.text(), "a");
        EXPECT_GT(event.seq, last);
        last = event.seq;
    }
    EXPECT_EQ(of_a->events.size(), 4U);  // turn on, turn off, end, start of the next generation
    EXPECT_EQ(of_a->next, last);
}

}  // namespace
}  // namespace knell::testing
