// What holds a reset that is due, how that is told, and when it lets go.

#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.hpp"
#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ResetBlockers : public WithRoutes {
  protected:
    static std::string policy(std::string_view process_max_age, std::string_view mode = "idle") {
        return fmt::format(
            "session_reset:\n  mode: {}\n  idle_minutes: 60\n  process_max_age: {}\n", mode,
            process_max_age);
    }
    void open_with(const std::string& yaml) {
        restart_with(yaml);
        session = text(route(), "session_id");
    }
    Json deferred() {
        until([&] { return !told("session:reset_deferred").empty(); }, "the reset to be deferred");
        return told("session:reset_deferred").back();
    }
    void vouch(const Json& process, std::string_view until) {
        client.must("process.vouch",
                    fmt::format(R"({{"process_id":"{}","until":"{}"}})", id_of(process), until));
    }
    static WallTime time_at(const Json& value, std::string_view path) {
        return parse_rfc3339(text(value, path)).value();
    }
    /// Nothing else has happened to it.
    void expect_one_end() {
        EXPECT_EQ(told("session:end", session).size(), 1U);
        EXPECT_EQ(told("session:reset_deferred").size(), 1U);
    }
};

TEST_F(ResetBlockers, WorkHoldsItUntilItIsTooOld) {
    open_with(policy("24h"));
    const auto busy = start({"nice", "-n", "19", "dd", "if=/dev/zero", "of=/dev/null"});
    let_pass(2);

    const auto event = deferred();
    const auto started = time_at(row(id_of(busy)), "started_at");
    EXPECT_EQ(text(event, "session_key"), key);
    EXPECT_EQ(text(event, "blockers.0.process_id"), id_of(busy));
    EXPECT_EQ(number(event, "blockers.0.pid"), pid_of(busy));
    EXPECT_EQ(text(event, "blockers.0.activity"), "working");
    EXPECT_EQ(time_at(event, "blockers.0.until"), started + 24h);
    EXPECT_EQ(time_at(show(session), "reset.held.until"), started + 24h);
    daemon.wait_for_log("info session:reset_deferred " + session);
    daemon.wait_for_log(id_of(busy));
    EXPECT_THAT(home.knell({"show", session}).out, HasSubstr(id_of(busy)));

    configure(policy("7205s"));  // as old as that in a moment, or just now

    const auto over = ended(session);
    EXPECT_EQ(text(over, "reason"), "idle_expiry");
    EXPECT_GE(time_at(over, "ended_at"), started + 7205s);
    EXPECT_EQ(text(row(id_of(busy)), "state"), "running") << "on_reset is warn";
    EXPECT_THAT(text(told("notice", session).at(0), "detail"), HasSubstr(id_of(busy)));
    expect_one_end();
}

TEST_F(ResetBlockers, AreToldOnceWhateverBecomesOfTheDaemon) {
    open_with(policy("24h"));
    start({"nice", "-n", "19", "dd", "if=/dev/zero", "of=/dev/null"});
    const auto other = create();
    let_pass(2);
    deferred();
    const auto since = text(show(session), "reset.held.since");

    daemon.restart();
    reconnect();
    // Behind what the daemon does first.
    client.must("session.title", fmt::format(R"({{"session_id":"{}","title":"x"}})", other));

    EXPECT_EQ(text(show(session), "reset.held.since"), since);
    EXPECT_EQ(told("session:reset_deferred").size(), 1U);
}

TEST_F(ResetBlockers, ASleeperHoldsItWhileSomebodyVouchesForIt) {
    open_with(policy("1h"));
    const auto sleeper = start({"sleep", "1000"});
    vouch(sleeper, "3h");
    let_pass(2);

    const auto vouched = time_at(row(id_of(sleeper)), "vouched_until");
    EXPECT_EQ(time_at(deferred(), "blockers.0.until"), vouched);
    EXPECT_EQ(time_at(deferred(), "blockers.0.vouched_until"), vouched);

    vouch(sleeper, "2s");
    const auto until = time_at(row(id_of(sleeper)), "vouched_until");

    const auto over = ended(session);
    EXPECT_GE(time_at(over, "ended_at"), until);
    EXPECT_EQ(text(row(id_of(sleeper)), "state"), "running");
    expect_one_end();
}

TEST_F(ResetBlockers, LetGoWhenNobodyVouchesAnyMore) {
    open_with(policy("1h"));
    const auto sleeper = start({"sleep", "1000"});
    vouch(sleeper, "3h");
    let_pass(2);
    deferred();

    vouch(sleeper, "off");

    ended(session);
    expect_one_end();
}

TEST_F(ResetBlockers, LetGoWhenTheyEnd) {
    open_with(policy("24h"));
    const auto busy = start({"nice", "-n", "19", "dd", "if=/dev/zero", "of=/dev/null"});
    let_pass(2);
    deferred();

    EXPECT_EQ(home.knell({"stop", id_of(busy)}).status, 0);

    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
    EXPECT_EQ(told("notice", session).size(), 0U) << "nothing runs on";
    expect_one_end();
}

TEST_F(ResetBlockers, AreAskedForNoMoreWhenNoPolicyIsLeft) {
    open_with(policy("24h"));
    start({"nice", "-n", "19", "dd", "if=/dev/zero", "of=/dev/null"});
    let_pass(2);
    deferred();

    configure(policy("24h", "none"));

    until([&] { return at(show(session), "reset.held").is_null(); }, "the reset to be let go");
    EXPECT_EQ(text(show(session), "status"), "background");
}

}  // namespace
}  // namespace knell::functional
