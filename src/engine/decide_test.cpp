#include "engine/decide.hpp"

#include <gtest/gtest.h>

#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace testing;

/// A state with one open session `a` at generation 1.
class Decide : public ::testing::Test {
  protected:
    Decide() {
        state_.begin(at(0));
        apply(decide(create("a"), nullptr, state_));
        state_.begin(at(5));
    }

    void apply(const Decided<Reply>& decision) {
        ASSERT_TRUE(decision.reply) << decision.reply.error().message;
        for (const auto& change : decision.changes) state_.apply(change);
        state_.settle();
    }
    Decided<Reply> ask(Command command, const Session* past = nullptr) const {
        return decide(std::move(command), past, state_);
    }
    static Session ended(std::string id, Generation generation = 1) {
        Session session = create(std::move(id)).draft;
        session.ordinal = 77;
        session.generation = generation;
        session.end = End{Reason::completed, Proof::declared, {},         "seen",
                          at(1).wall,        at(1).wall,      at(1).wall, {}};
        return session;
    }

    State state_;
};

TEST_F(Decide, AStartIsToldWithTheChange) {
    const auto decision = ask(create("b"));

    ASSERT_TRUE(decision.reply);
    ASSERT_EQ(decision.changes.size(), 1U);
    EXPECT_EQ(std::get<Opened>(decision.changes[0]).session.ordinal, 2);
    ASSERT_EQ(decision.events.size(), 1U);
    EXPECT_EQ(decision.events[0].type, EventType::session_start);
    EXPECT_EQ(decision.events[0].generation, 1U);
}

TEST_F(Decide, DecidingChangesNothing) {
    const auto before = state_.heads();
    ask(create("b"));
    ask(close("a"));

    EXPECT_EQ(state_.heads().ordinal, before.ordinal);
    EXPECT_NE(state_.find(SessionId("a")), nullptr);
    EXPECT_EQ(state_.find(SessionId("b")), nullptr);
}

TEST_F(Decide, ALiveIdIsOwnedAndSaysByWhom) {
    const auto decision = ask(create("a"));

    ASSERT_FALSE(decision.reply);
    EXPECT_EQ(decision.reply.error().code, ErrorCode::owned);
    EXPECT_EQ(std::get<OwnedBy>(decision.reply.error().facts).owner.process.pid, 100);
    EXPECT_TRUE(decision.changes.empty());
    EXPECT_TRUE(decision.events.empty());
}

TEST_F(Decide, AnEndedIdIsNotCreatedAgain) {
    const auto past = ended("old");
    EXPECT_EQ(ask(create("old"), &past).reply.error().code, ErrorCode::ended);
}

TEST_F(Decide, WritesOfAnotherGenerationAreFenced) {
    for (const Generation generation : {0U, 2U, 99U}) {
        EXPECT_EQ(ask(append("a", generation, {"x"})).reply.error().code, ErrorCode::fenced);
        EXPECT_EQ(ask(turn("a", generation, true)).reply.error().code, ErrorCode::fenced);
        EXPECT_EQ(ask(close("a", generation)).reply.error().code, ErrorCode::fenced);
    }
}

TEST_F(Decide, WritesToAnEndedSessionSayHowItEnded) {
    const auto past = ended("old", 3);
    const auto decision = ask(append("old", 3, {"x"}), &past);

    ASSERT_EQ(decision.reply.error().code, ErrorCode::ended);
    EXPECT_EQ(std::get<EndedAs>(decision.reply.error().facts).generation, 3U);
}

TEST_F(Decide, NobodysSessionIsNotFound) {
    EXPECT_EQ(ask(append("x", 1, {"y"})).reply.error().code, ErrorCode::not_found);
    EXPECT_EQ(ask(close("x")).reply.error().code, ErrorCode::not_found);
    EXPECT_EQ(ask(resume("x")).reply.error().code, ErrorCode::not_found);
    EXPECT_EQ(ask(turn("x", 1, true)).reply.error().code, ErrorCode::not_found);
}

TEST_F(Decide, ClosingTwiceEndsOnce) {
    const auto past = ended("old");
    const auto decision = ask(close("old"), &past);

    ASSERT_TRUE(decision.reply);
    EXPECT_TRUE(std::get<ClosedReply>(*decision.reply).already_ended);
    EXPECT_TRUE(decision.events.empty());
    EXPECT_TRUE(decision.changes.empty());
}

TEST_F(Decide, AStaleOwnerMayNotCloseTheNextGeneration) {
    const auto past = ended("old", 2);
    EXPECT_EQ(ask(close("old", 1), &past).reply.error().code, ErrorCode::fenced);
}

TEST_F(Decide, AnEndIsTheLastEventOfItsGeneration) {
    apply(ask(turn("a", 1, true)));
    const auto decision = ask(close("a"));

    ASSERT_EQ(decision.events.size(), 2U);
    EXPECT_EQ(decision.events[0].type, EventType::agent_end);
    EXPECT_EQ(decision.events[1].type, EventType::session_end);
}

TEST_F(Decide, ATurnThatIsOnAlreadyIsNotToldAgain) {
    apply(ask(turn("a", 1, true)));
    const auto decision = ask(turn("a", 1, true));

    ASSERT_TRUE(decision.reply);
    EXPECT_FALSE(std::get<TurnReply>(*decision.reply).changed);
    EXPECT_TRUE(decision.events.empty());
}

TEST_F(Decide, ASpooledTimeInTheFutureIsNow) {
    auto command = close("a");
    command.at = at(1000).wall;
    const auto decision = ask(command);

    EXPECT_EQ(std::get<ClosedReply>(*decision.reply).end.ended_at, at(5).wall);
}

TEST_F(Decide, TokensOfAnswersAreOutput) {
    Append command{SessionId("a"),
                   1,
                   {{"user", "q", {}, 10}, {"assistant", "r", {}, 7}, {"tool", "t", "grep", 5}}};
    const auto decision = ask(command);

    EXPECT_EQ(std::get<AppendedReply>(*decision.reply).tally,
              (Tally{.messages = 3, .input_tokens = 15, .output_tokens = 7}));
}

}  // namespace
}  // namespace knell
