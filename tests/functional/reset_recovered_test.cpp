// Sessions that a daemon finds when it comes up obey the same policy as all others: in the field
// they became immortal.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto idle = "session_reset:\n  mode: idle\n  idle_minutes: 60\n";

class ResetRecovered : public WithRoutes {
  protected:
    std::string owned_by(const Process& process, std::string_view more = {}) {
        return text(route(fmt::format(R"("owner":{{"pid":{}}}{})", process.pid(), more)),
                    "session_id");
    }
    /// For two hours, also where it has ended.
    void be_silent() {
        edit(
            "UPDATE sessions SET last_interaction_at = "
            "coalesce(last_interaction_at, last_activity_at) - 7200000");
    }
};

TEST_F(ResetRecovered, AParkedOneIsReset) {
    restart_with(idle);
    auto gateway = idle_process();
    session = owned_by(gateway, R"(,"on_owner_loss":"park","park_s":604800)");
    gateway.signal(SIGKILL);
    gateway.wait();
    until([&] { return !at(show(session), "parked_since").is_null(); }, "it to be parked");

    let_pass(2);

    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
    EXPECT_EQ(told("session:end", session).size(), 1U);
    EXPECT_EQ(text(route(), "auto_reset.prior_session_id"), session);
}

TEST_F(ResetRecovered, AParkedOneThatIsClaimedInTimeGoesOn) {
    restart_with(idle);
    auto gateway = idle_process();
    session = owned_by(gateway, R"(,"on_owner_loss":"park","park_s":604800)");
    gateway.signal(SIGKILL);
    gateway.wait();
    until([&] { return !at(show(session), "parked_since").is_null(); }, "it to be parked");

    const auto next = route();

    EXPECT_EQ(text(next, "session_id"), session);
    EXPECT_TRUE(at(next, "resumed").as_bool());
    let_pass(2);
    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
}

TEST_F(ResetRecovered, OneOfADaemonThatWasKilledIsReset) {
    restart_with(idle);
    const auto gateway = idle_process();
    session = owned_by(gateway);
    daemon.restart();
    reconnect();
    EXPECT_EQ(text(show(session), "status"), "idle") << "it is not due";
    daemon.kill9();
    be_silent();
    daemon.start();
    reconnect();

    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
    EXPECT_TRUE(is_running(gateway.pid()));
}

TEST_F(ResetRecovered, OneThatWaitsForATurnSaysSo) {
    restart_with(idle);
    const auto id = text(route(), "session_id");
    client.must("turn.start", fmt::format(R"({{"session_id":"{}","generation":1}})", id));
    EXPECT_FALSE(at(show(id), "reset").as_object().contains("waits_for_turn_since"));

    let_pass(2);

    EXPECT_EQ(at(show(id), "reset.waits_for_turn_since"), at(show(id), "turn_since"));
    EXPECT_THAT(home.knell({"show", id}).out, HasSubstr("waits for a turn"));
    EXPECT_THAT(home.knell({"why", id}).out, HasSubstr("when the turn that is on has ended"));
    client.must("turn.end", fmt::format(R"({{"session_id":"{}","generation":1}})", id));
    EXPECT_FALSE(at(show(id), "reset").as_object().contains("waits_for_turn_since"));
}

TEST_F(ResetRecovered, ThreeMorningsWithoutADaemonAreOneReset) {
    restart_with("session_reset:\n  mode: daily\n  at: \"06:00\"\n  time_zone: Europe/Berlin\n");
    const auto gateway = idle_process();
    session = owned_by(gateway);
    let_pass(72);
    EXPECT_EQ(text(ended(session), "reason"), "daily_reset");
    daemon.restart();
    reconnect();

    const auto next = route();

    EXPECT_EQ(text(next, "auto_reset.prior_session_id"), session);
    const auto fresh = text(next, "session_id");
    daemon.restart();
    reconnect();
    EXPECT_EQ(text(route(), "session_id"), fresh) << "it has its mornings before it";
    EXPECT_THAT(story_of(client, session), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(story_of(client, fresh), ElementsAre("session:start 1"));
}

/// Its end was its owner's death; that it is past its policy ends it no second time.
TEST_F(ResetRecovered, OneWhoseGatewayDiedMeanwhileEndsOnce) {
    restart_with(idle);
    auto gateway = idle_process();
    session = owned_by(gateway);
    EXPECT_EQ(daemon.terminate(), 0);
    gateway.signal(SIGKILL);
    gateway.wait();
    daemon.start();
    reconnect();
    const auto over = ended(session);
    EXPECT_EQ(text(over, "reason"), "owner_lost");
    EXPECT_EQ(daemon.terminate(), 0);
    be_silent();
    daemon.start();
    reconnect();

    const auto next = route();

    EXPECT_TRUE(at(next, "new").as_bool());
    EXPECT_EQ(text(next, "auto_reset.prior_session_id"), session);
    EXPECT_EQ(text(next, "auto_reset.reason"), "idle");
    EXPECT_EQ(text(show(text(next, "session_id")), "parent_id"), session);
    EXPECT_THAT(story_of(client, session), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_EQ(text(show(session), "reason"), "owner_lost");
}

/// That it fell due while no daemon was up does not hide how it ended.
TEST_F(ResetRecovered, OneWhoseGatewayDiedAndWhoseHourCameMeanwhileEndsAsItDied) {
    restart_with(idle);
    auto gateway = idle_process();
    session = owned_by(gateway);
    EXPECT_EQ(daemon.terminate(), 0);
    gateway.signal(SIGKILL);
    gateway.wait();
    be_silent();
    daemon.start();
    reconnect();

    EXPECT_EQ(text(ended(session), "reason"), "owner_lost");
    const auto next = route();

    EXPECT_EQ(text(next, "auto_reset.prior_session_id"), session);
    EXPECT_EQ(text(next, "auto_reset.reason"), "idle");
    EXPECT_EQ(told("session:end", session).size(), 1U);
}

/// What a daemon does as it comes up is no more silent than what it does later.
TEST_F(ResetRecovered, WhatIsResetAtOnceIsInTheLog) {
    restart_with(idle);
    const auto gateway = idle_process();
    session = owned_by(gateway);
    let_pass(2);
    daemon.wait_for_log("info ended session " + session);
    daemon.wait_for_log("idle_expiry (policy)");
}

}  // namespace
}  // namespace knell::functional
