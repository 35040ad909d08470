// A message for a key: which session it reaches.

#include <csignal>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto key = "agent:main:test:dm:1";
constexpr int gateway = 500;

class RouteStory : public StoreStory {
  protected:
    RoutedReply routed(Route message, Now now) {
        auto reply = journal().one(std::move(message), now);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::get<RoutedReply>(*reply) : RoutedReply{};
    }
    Error refused(Route message, Now now) {
        const auto reply = journal().one(std::move(message), now);
        EXPECT_FALSE(reply);
        return reply ? Error{} : reply.error();
    }
    void policy(std::shared_ptr<const ResetPolicies> policies) {
        journal().state.set_reset_policies(std::move(policies));
    }
    /// The events of all sessions, as "type session generation".
    std::vector<std::string> story() {
        std::vector<std::string> lines;
        for (const auto& event : reader().events({.limit = 1000})->events) {
            lines.push_back(std::string(name_in(event_type_names, event.type)) + " " +
                            event.session_id.text() + " " + std::to_string(event.generation));
        }
        return lines;
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, RouteStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(RouteStory, TheFirstMessageOpensOneAndTheNextFindsIt) {
    const auto first = routed(route(key, "a"), at(0));
    EXPECT_TRUE(first.is_new);
    EXPECT_EQ(first.session.session_id.text(), "a");
    const auto next = routed(route(key, "b"), at(1));
    EXPECT_FALSE(next.is_new);
    EXPECT_FALSE(next.is_resumed);
    EXPECT_EQ(next.session.session_id.text(), "a");
    EXPECT_EQ(next.session.generation, 1U);
    EXPECT_EQ(shown("a").key, key);
}

TEST_P(RouteStory, TwoOfOneGroupGetOneSession) {
    const auto replies = journal().group({route(key, "a"), route(key, "b")}, at(0));
    ASSERT_TRUE(replies[0] && replies[1]);
    EXPECT_TRUE(std::get<RoutedReply>(*replies[0]).is_new);
    EXPECT_FALSE(std::get<RoutedReply>(*replies[1]).is_new);
    EXPECT_EQ(std::get<RoutedReply>(*replies[1]).session.session_id.text(), "a");
    EXPECT_EQ(told(EventType::session_start).size(), 1U);
}

TEST_P(RouteStory, OneThatEndedInTheSameGroupIsSeenAsEnded) {
    routed(route(key, "a"), at(0));
    const auto replies = journal().group({close("a"), route(key, "b"), route(key, "c")}, at(1));
    ASSERT_TRUE(replies[1] && replies[2]);
    EXPECT_EQ(std::get<RoutedReply>(*replies[1]).session.session_id.text(), "b");
    EXPECT_EQ(std::get<RoutedReply>(*replies[2]).session.session_id.text(), "b");
}

TEST_P(RouteStory, AKeyOfAnotherLivingProcessIsOwned) {
    routed(route(key, "a", gateway), at(0));
    const auto error = refused(route(key, "b", gateway + 1), at(1));
    EXPECT_EQ(error.code, ErrorCode::owned);
    ASSERT_TRUE(std::holds_alternative<OwnedBy>(error.facts));
    EXPECT_EQ(std::get<OwnedBy>(error.facts).owner.process.pid, gateway);
}

TEST_P(RouteStory, AnUncheckableOwnerStillOwnsIt) {
    routed(route(key, "a", gateway), at(0));
    journal().one(unknown(gateway), at(1));
    EXPECT_EQ(refused(route(key, "b", gateway + 1), at(2)).code, ErrorCode::owned);
}

TEST_P(RouteStory, ALeaseGoesOnWithItsHolderAndAHostedOneWithAnybody) {
    auto message = route(key, "a");
    message.draft.owner = lease_owner();
    routed(std::move(message), at(0));
    EXPECT_EQ(refused(route(key, "b"), at(1)).code, ErrorCode::owned) << "a process";
    message = route(key, "b");
    message.draft.owner = lease_owner();
    const auto again = routed(std::move(message), at(40));
    EXPECT_EQ(again.session.session_id.text(), "a");
    EXPECT_EQ(again.session.lease_ttl, 45s);
    for (const auto said : {&Owner::host, &Owner::command}) {
        message = route(key, "b");
        message.draft.owner = lease_owner();
        message.draft.owner.*said = "another";
        EXPECT_EQ(refused(std::move(message), at(41)).code, ErrorCode::owned);
    }
    journal().tick(at(80));
    EXPECT_FALSE(shown("a").end) << "the message renewed it";

    message = route("hosted", "h");
    message.draft.owner = hosted_owner();
    routed(std::move(message), at(81));
    EXPECT_EQ(routed(route("hosted", "i"), at(82)).session.session_id.text(), "h");
}

/// Every reason that nobody meant: the conversation goes on in the same session.
TEST_P(RouteStory, AGatewayThatDiedGoesOnWhereItWas) {
    const std::vector<Departure> deaths{exited(3),
                                        signaled(SIGKILL),
                                        lost(),
                                        host_restarted(),
                                        {.kind = Departure::Kind::oom_killed, .evidence = "log"},
                                        {.kind = Departure::Kind::stopped, .evidence = "asked"}};
    Generation generation = 1;
    int pid = gateway;
    std::int64_t second = 0;
    routed(route(key, "a", pid), at(second));
    for (const auto& death : deaths) {
        journal().group({gone(pid, watched_to_the_end(death))}, at(second += 10));
        ASSERT_TRUE(shown("a").end);
        ++pid;
        const auto next = routed(route(key, "x", pid), at(second += 10));
        EXPECT_TRUE(next.is_resumed);
        EXPECT_FALSE(next.is_new);
        EXPECT_EQ(next.session.session_id.text(), "a");
        EXPECT_EQ(next.session.generation, ++generation);
    }
    EXPECT_EQ(told(EventType::session_start).size(), deaths.size() + 1);
    EXPECT_EQ(told(EventType::session_end).size(), deaths.size());
}

TEST_P(RouteStory, ALeaseThatWasReapedAndAHostedOneThatWasLeftGoOn) {
    std::int64_t second = 0;
    for (const auto& owner : {lease_owner(10s), hosted_owner(10s)}) {
        const std::string name(name_in(owner_kind_names, owner.kind));
        auto message = route(name, name);
        message.draft.owner = owner;
        routed(message, at(second));
        journal().tick(at(second += 100));
        ASSERT_TRUE(shown(name).end) << name;
        const auto again = routed(message, at(++second));
        EXPECT_TRUE(again.is_resumed) << name;
        EXPECT_EQ(again.session.session_id.text(), name);
        EXPECT_EQ(again.session.generation, 2U);
    }
}

TEST_P(RouteStory, AParkedOneIsClaimed) {
    auto message = route(key, "a", gateway);
    message.draft.on_owner_loss = OnOwnerLoss::park;
    message.draft.park_window = 300s;
    routed(std::move(message), at(0));
    journal().group({gone(gateway, exited(1))}, at(5));
    ASSERT_TRUE(shown("a").parked_since);

    const auto next = routed(route(key, "b", gateway + 1), at(10));
    EXPECT_TRUE(next.is_resumed);
    EXPECT_EQ(next.session.generation, 2U);
    EXPECT_FALSE(shown("a").parked_since);
}

TEST_P(RouteStory, WhatNobodyMeantToEndGoesOnUntilItIsPastItsPolicy) {
    policy(idle_policy(10min));
    std::int64_t second = 0;
    for (const auto reason : {Reason::exited, Reason::signaled, Reason::oom_killed,
                              Reason::owner_lost, Reason::shutdown, Reason::detached_expiry}) {
        SCOPED_TRACE(name_of(reason));
        const std::string of(name_of(reason));
        routed(route(of, of), at(++second));
        journal().one(close(of, {}, reason), at(++second));
        ASSERT_EQ(shown(of).end->reason, reason);
        const auto again = routed(route(of, of + "?"), at(++second));
        EXPECT_TRUE(again.is_resumed);
        EXPECT_EQ(again.session.session_id.text(), of);
        EXPECT_EQ(again.session.generation, 2U);

        journal().one(close(of, {}, reason), at(++second));
        const auto next = routed(route(of, of + " next"), at(second += 601));
        EXPECT_TRUE(next.is_new);
        ASSERT_TRUE(next.auto_reset);
        EXPECT_EQ(next.auto_reset->prior.text(), of);
        EXPECT_EQ(shown(of).end->reason, reason) << "it does not end again";
        EXPECT_EQ(shown(of + " next").relation, Relation::reset);
    }
}

TEST_P(RouteStory, WhatWasMeantToEndIsNotGoneOnWith) {
    std::int64_t second = 0;
    int number = 0;
    const auto open = [&] { return routed(route(key, std::to_string(++number)), at(++second)); };
    for (const auto reason : {Reason::completed, Reason::manual_reset, Reason::auto_reset,
                              Reason::idle_expiry, Reason::daily_reset, Reason::branched}) {
        const auto before = open().session.session_id;
        journal().one(close(before.text(), {}, reason), at(++second));
        const auto next = open();
        EXPECT_TRUE(next.is_new) << name_of(reason);
        const auto row = shown(next.session.session_id.text());
        const bool was_reset = reason != Reason::completed && reason != Reason::branched;
        EXPECT_EQ(row.parent_id.text(), was_reset ? before.text() : "") << name_of(reason);
        EXPECT_EQ(row.relation, was_reset ? Relation::reset : Relation::none);
        journal().one(close(next.session.session_id.text()), at(++second));
    }
}

TEST_P(RouteStory, OneThatWasResetAndIsOpenedAgainDoesNotGetTheKeyBack) {
    routed(route(key, "a"), at(0));
    journal().one(reset(key), at(1));
    routed(route(key, "b"), at(2));
    ASSERT_TRUE(journal().one(resume("a"), at(3)));
    EXPECT_TRUE(shown("a").key_taken);
    EXPECT_EQ(routed(route(key, "x"), at(4)).session.session_id.text(), "b");

    journal().one(reset(key), at(5));
    const auto next = routed(route(key, "c"), at(6));
    EXPECT_EQ(next.session.session_id.text(), "c") << "the reset one is open, and not gone back to";
    EXPECT_EQ(shown("c").parent_id.text(), "b");

    restart(at(7));
    journal().one(reset(key), at(8));
    EXPECT_EQ(routed(route(key, "d"), at(9)).session.session_id.text(), "d");
    EXPECT_FALSE(shown("a").end);
}

TEST_P(RouteStory, OneThatIsOpenedAgainHasItsKeyUnlessThereIsANewerOne) {
    routed(route(key, "a"), at(0));
    journal().one(reset(key), at(1));
    ASSERT_TRUE(journal().one(resume("a"), at(2)));
    const auto alone = shown("a");
    EXPECT_FALSE(alone.key_taken);
    EXPECT_EQ(routed(route(key, "x", alone.owner.process.pid), at(3)).session.session_id.text(),
              "a");

    journal().one(reset(key), at(4));
    routed(route(key, "b"), at(5));
    journal().one(close("b"), at(6));
    ASSERT_TRUE(journal().one(resume("a"), at(7)));
    EXPECT_TRUE(shown("a").key_taken) << "the newer one is over, too";
    EXPECT_EQ(routed(route(key, "c"), at(8)).session.session_id.text(), "c");
}

/// People open sessions with a key by hand: whoever is opened last has it, for good.
TEST_P(RouteStory, AKeyDoesNotGoBackToAnOlderSession) {
    const auto by_hand = [](const std::string& id, int pid) {
        auto opened = create(id, process_owner(pid));
        opened.draft.key = key;
        return opened;
    };
    routed(route(key, "a"), at(0));
    ASSERT_TRUE(journal().one(by_hand("b", 601), at(1)));
    EXPECT_TRUE(shown("a").key_taken);
    EXPECT_FALSE(shown("a").end) << "it goes on, without the key";
    EXPECT_EQ(refused(route(key, "x"), at(2)).code, ErrorCode::owned);
    journal().one(reset(key), at(3));
    EXPECT_EQ(shown("b").end->reason, Reason::manual_reset);
    auto next = routed(route(key, "c"), at(4));
    EXPECT_TRUE(next.is_new);
    EXPECT_EQ(next.session.session_id.text(), "c");
    EXPECT_EQ(shown("c").parent_id.text(), "b");

    ASSERT_TRUE(journal().one(by_hand("d", 602), at(5)));
    journal().one(close("d"), at(6));
    restart(at(7));
    next = routed(route(key, "e"), at(8));
    EXPECT_TRUE(next.is_new);
    EXPECT_EQ(next.session.session_id.text(), "e");
    EXPECT_FALSE(shown("a").end || shown("c").end);

    // All in one transaction.
    journal().group({by_hand("f", 603), by_hand("g", 604), close("g")}, at(9));
    EXPECT_TRUE(shown("e").key_taken && shown("f").key_taken);
    EXPECT_EQ(routed(route(key, "h"), at(10)).session.session_id.text(), "h");
}

/// Its messages are in the child: a parent that is opened again does not stand in the way.
TEST_P(RouteStory, AParentThatIsOpenedAgainLeavesTheKeyWithTheEndOfItsLineage) {
    struct Way {
        std::string name;
        std::vector<Input> inputs;
    };
    std::vector<Way> ways;
    ways.push_back({"compression", {compress("a compression", 1, "compression child", "all", 1)}});
    ways.push_back({"branch", {branch("a branch", 1, "branch child")}});
    ways.push_back({"reset", {reset("reset"), route("reset", "reset child")}});
    std::int64_t second = 0;
    for (auto& [name, inputs] : ways) {
        SCOPED_TRACE(name);
        const auto parent = "a " + name;
        const auto child = name + " child";
        routed(route(name, parent, gateway), at(++second));
        journal().one(append(parent, 1, {"one"}), at(++second));
        for (auto& input : inputs) ASSERT_TRUE(journal().one(std::move(input), at(++second)));
        journal().one(append(child, 1, {"two"}), at(++second));
        journal().one(close(child, {}, Reason::owner_lost), at(++second));
        ASSERT_TRUE(shown(child).end);
        ASSERT_TRUE(journal().one(resume(parent), at(++second)));
        EXPECT_TRUE(shown(parent).key_taken);
        const auto next = routed(route(name, "x", gateway + 1), at(++second));
        EXPECT_TRUE(next.is_resumed);
        EXPECT_EQ(next.session.session_id.text(), child);
    }
}

TEST_P(RouteStory, AMessageForWhatWasCompressedReachesTheEndOfTheChain) {
    routed(route(key, "a"), at(0));
    journal().one(close("a", {}, Reason::compression), at(1));
    // Children that somebody else opened, without the key.
    auto child = create("b", process_owner(gateway));
    child.draft.parent_id = SessionId("a");
    child.draft.relation = Relation::compression;
    journal().one(child, at(2));
    EXPECT_EQ(routed(route(key, "x"), at(3)).session.session_id.text(), "b") << "open";

    journal().one(close("b", {}, Reason::compression), at(4));
    child = create("c", process_owner(gateway));
    child.draft.parent_id = SessionId("b");
    child.draft.relation = Relation::compression;
    journal().one(child, at(5));
    journal().group({gone(gateway, exited(1))}, at(6));
    const auto next = routed(route(key, "x", gateway + 1), at(7));
    EXPECT_TRUE(next.is_resumed);
    EXPECT_EQ(next.session.session_id.text(), "c");
}

TEST_P(RouteStory, OnePastItsPolicyEndsBeforeTheNextBegins) {
    policy(idle_policy(10min));
    routed(route(key, "a"), at(0));
    // The message comes before the watcher.
    const auto replies = journal().group({route(key, "b")}, at(600));
    ASSERT_TRUE(replies[0]) << replies[0].error().message;
    const auto& next = std::get<RoutedReply>(*replies[0]);
    EXPECT_TRUE(next.is_new);
    ASSERT_TRUE(next.auto_reset);
    EXPECT_EQ(next.auto_reset->prior.text(), "a");
    EXPECT_EQ(next.auto_reset->reason, "idle");
    const auto prior = shown("a");
    EXPECT_EQ(prior.end->reason, Reason::auto_reset);
    EXPECT_EQ(prior.end->proof, Proof::policy);
    EXPECT_EQ(prior.end->detail, "idle");
    EXPECT_EQ(prior.successor_id.text(), "b");
    EXPECT_EQ(shown("b").parent_id.text(), "a");
    EXPECT_EQ(shown("b").relation, Relation::reset);
    EXPECT_EQ(story(), (std::vector<std::string>{"session:start a 1", "session:end a 1",
                                                 "session:start b 1"}));
}

TEST_P(RouteStory, OneThatEndedByItselfAndIsPastItsPolicyDoesNotEndAgain) {
    policy(daily_policy(9h));  // an hour from now
    routed(route(key, "a", gateway), at(0));
    journal().group({gone(gateway, exited(1))}, at(5));
    const auto soon = routed(route(key, "b", gateway + 1), at(3599));
    EXPECT_TRUE(soon.is_resumed);
    journal().group({gone(gateway + 1, exited(1))}, at(3599));

    const auto next = routed(route(key, "c", gateway + 2), at(100'000));
    EXPECT_TRUE(next.is_new);
    ASSERT_TRUE(next.auto_reset);
    EXPECT_EQ(next.auto_reset->reason, "daily");
    EXPECT_EQ(next.auto_reset->prior.text(), "a");
    EXPECT_EQ(shown("c").parent_id.text(), "a");
    EXPECT_EQ(shown("a").end->reason, Reason::exited);
    EXPECT_EQ(told(EventType::session_end).size(), 2U);
}

TEST_P(RouteStory, AClockThatIsSetMakesNobodySilent) {
    policy(idle_policy(30min));
    routed(route(key, "a", gateway), at(0));
    journal().group({gone(gateway, exited(1))}, at(60));
    for (const auto hours : {2, -5, 24 * 365}) {
        auto set = at(61);
        set.wall += std::chrono::hours{hours};
        journal().tick(set);
        auto message = set;
        message.wall += 1s;
        message.steady += 1s;
        message.boot += 1s;
        const auto again = routed(route(key, "x", gateway + hours), message);
        EXPECT_TRUE(again.is_resumed) << hours;
        journal().tick(message);
        EXPECT_FALSE(shown("a").end) << hours;
        journal().group({gone(gateway + hours, exited(1))}, message);
    }
}

TEST_P(RouteStory, AMessageIsAnInteractionThatIsWrittenWithinSeconds) {
    routed(route(key, "a"), at(0));
    const auto commits = journal().journal.counts().commits;
    for (int second = 1; second < 5; ++second) routed(route(key, "x"), at(second));
    EXPECT_EQ(journal().journal.counts().commits, commits) << "not one transaction each";
    journal().tick(at(9));
    EXPECT_EQ(shown("a").last_interaction_at, at(4).wall);

    routed(route(key, "x"), at(10));
    journal().one(close("a"), at(11));
    EXPECT_EQ(shown("a").last_interaction_at, at(10).wall) << "with the end at the latest";
}

TEST_P(RouteStory, WhatAMachineDoesIsNoInteraction) {
    policy(idle_policy(10min));
    routed(route(key, "a"), at(0));
    auto message = route(key, "x");
    message.is_automatic = true;
    routed(message, at(500));
    auto said = append("a", 1, {"tick"});
    said.is_automatic = true;
    journal().one(said, at(550));
    journal().one(beat("a"), at(590));
    journal().tick(at(601));
    EXPECT_EQ(shown("a").end->reason, Reason::idle_expiry);
}

TEST_P(RouteStory, AnInteractionPutsTheResetOff) {
    policy(idle_policy(10min));
    routed(route(key, "a"), at(0));
    journal().one(append("a", 1, {"hello"}), at(300));
    journal().tick(at(601));
    EXPECT_FALSE(shown("a").end);
    routed(route(key, "x"), at(800));
    journal().tick(at(1399));
    EXPECT_FALSE(shown("a").end);
    journal().tick(at(1400));
    EXPECT_EQ(shown("a").end->reason, Reason::idle_expiry);
}

}  // namespace
}  // namespace knell::testing
