// The two ways in which a conversation ended without session:end, as they were reported, with a
// hook directory of Hermes as it is.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/hooks.hpp"
#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using ::testing::AnyOf;

constexpr auto handler = R"(import json
import os

LOG = os.path.join(os.path.dirname(__file__), "heard")


async def handle(event_type, context):
    seen = {"event": event_type}
    for name in ("platform", "user_id", "session_key", "session_id", "reason"):
        seen[name] = context[name]
    with open(LOG, "a") as log:
        log.write(json.dumps(seen) + "\n")
)";

class ResetHermesHook : public WithRoutes {
  protected:
    void SetUp() override {
        const auto draft = home.file("draft");
        std::filesystem::create_directory(draft);
        write_file(draft + "/handler.py", handler);
        write_file(draft + "/HOOK.yaml",
                   "name: mirror\ndescription: mirrors sessions\nevents:\n  - session:start\n"
                   "  - session:end\n");
        std::filesystem::create_directories(home.file("hooks"));
        std::filesystem::rename(draft, home.file("hooks/mirror"));
        restart_with("session_reset:\n  mode: idle\n  idle_minutes: 30\n");
        until([&] { return !array(client.must("hooks.list"), "hooks").empty(); }, "the hook");
    }
    Json message(std::string_view to = key) {
        return route(R"("platform":"telegram","chat_type":"dm","user_id":"42")", to);
    }
    std::vector<Json> heard() {
        std::vector<Json> events;
        for (const auto& line : lines_of(home.file("hooks/mirror/heard"))) {
            events.push_back(parse(line));
        }
        return events;
    }
    /// Where it was heard, counted from 0, once it was.
    std::size_t heard_at(std::string_view event, std::string_view of) {
        std::size_t place = 0;
        until(
            [&] {
                const auto events = heard();
                const auto is_it = [&](const Json& one) {
                    return text(one, "event") == event && text(one, "session_id") == of;
                };
                place =
                    static_cast<std::size_t>(std::ranges::find_if(events, is_it) - events.begin());
                return place < events.size();
            },
            fmt::format("{} of {} to be heard", event, of).c_str());
        return place;
    }
    void expect_end(const std::string& of, std::string_view reason, std::string_view to = key) {
        const auto place = heard_at("session:end", of);
        const auto end = heard().at(place);
        EXPECT_EQ(text(end, "reason"), reason);
        EXPECT_EQ(text(end, "platform"), "telegram");
        EXPECT_EQ(text(end, "user_id"), "42");
        EXPECT_EQ(text(end, "session_key"), to);
    }
    /// Symmetric: one of each, the end of the one before the start of the other.
    void expect_replaced(const std::string& prior, const std::string& next) {
        EXPECT_LT(heard_at("session:start", prior), heard_at("session:end", prior));
        EXPECT_LT(heard_at("session:end", prior), heard_at("session:start", next));
        const auto events = heard();
        EXPECT_EQ(std::ranges::count_if(
                      events, [&](const Json& one) { return text(one, "session_id") == prior; }),
                  2);
        const auto ends = told("session:end", prior);
        ASSERT_EQ(ends.size(), 1U);
        EXPECT_LT(number(ends[0], "seq"), number(told("session:start", next).at(0), "seq"));
    }
};

/// Path A: the watcher closes it while nobody says anything.
TEST_F(ResetHermesHook, HearsTheEndOfOneThatWasIdleForTooLong) {
    session = text(message(), "session_id");
    heard_at("session:start", session);
    let_pass(1);

    expect_end(session, "idle_expiry");

    const auto next = text(message(), "session_id");
    expect_replaced(session, next);
    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
}

TEST_F(ResetHermesHook, HearsTheEndOfTheDay) {
    const auto utc = std::stoi(text(client.must("node.status"), "started_at").substr(11, 2));
    restart_with(fmt::format("session_reset: {{mode: daily, at: {}, time_zone: UTC}}\n", utc));
    session = text(message(), "session_id");
    let_pass(24);

    expect_end(session, "daily_reset");

    expect_replaced(session, text(message(), "session_id"));
}

/// Path B: the next message finds it past its policy, before the watcher does.  Nobody can make
/// sure of that from outside: a turn that a machine began keeps the watcher from it, and the turn's
/// end and the message come while the daemon writes something else.
TEST_F(ResetHermesHook, HearsTheEndOfOneThatTheNextMessageResets) {
    constexpr int keys = 12;
    const auto params = [](const std::string& id, std::string_view more) {
        return fmt::format(R"({{"session_id":"{}","generation":1,"automatic":true{}}})", id, more);
    };
    const auto call = [](int id, std::string_view method, const std::string& with) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                           with) +
               "\n";
    };
    const auto other = create();
    std::vector<std::string> priors;
    for (int i = 0; i < keys; ++i) {
        priors.push_back(text(message(fmt::format("key-{}", i)), "session_id"));
        client.must("turn.start", params(priors.back(), ""));
    }
    let_pass(1);
    int by_message = 0;
    for (int i = 0; i < keys; ++i) {
        const auto to = fmt::format("key-{}", i);
        const auto& prior = priors.at(static_cast<std::size_t>(i));
        ASSERT_EQ(text(show(prior), "status"), "running") << "no reset during a turn";
        client.send(
            call(1, "session.append",
                 params(other, R"(,"messages":[{"role":"user","content":"x"}])")) +
            call(2, "turn.end", params(prior, "")) +
            call(3, "session.route", route_params(R"("platform":"telegram","user_id":"42")", to)));
        for (int answer = 1; answer <= 2; ++answer) ASSERT_TRUE(client.read_answer().ok());
        const auto routed = client.read_answer().result();

        EXPECT_TRUE(at(routed, "new").as_bool());
        EXPECT_EQ(text(routed, "auto_reset.prior_session_id"), prior);
        EXPECT_EQ(text(routed, "auto_reset.reason"), "idle");
        const auto reason = text(show(prior), "reason");
        EXPECT_THAT(reason, AnyOf("auto_reset", "idle_expiry"));
        if (reason == "auto_reset") ++by_message;
        expect_end(prior, reason, to);
        expect_replaced(prior, text(routed, "session_id"));
    }
    EXPECT_GT(by_message, 0) << "the watcher was faster each time";
}

TEST_F(ResetHermesHook, HearsTheEndOfOneThatWasSuspended) {
    session = text(message(), "session_id");
    client.must("session.suspend", fmt::format(R"({{"key":"{}","why":"stuck"}})", key));

    const auto next = message();

    EXPECT_EQ(text(next, "auto_reset.reason"), "suspended");
    expect_end(session, "auto_reset");
    expect_replaced(session, text(next, "session_id"));
}

/// What worked before works as it did: /new.
TEST_F(ResetHermesHook, HearsTheEndThatAPersonAskedFor) {
    session = text(message(), "session_id");
    EXPECT_EQ(home.knell({"reset", std::string(key), "--yes"}).status, 0);
    expect_end(session, "manual_reset");
    expect_replaced(session, text(message(), "session_id"));
}

/// So that it can be posted where it belongs.
TEST_F(ResetHermesHook, ANoticeNamesTheChatThatItConcerns) {
    write_hook(home, "poster", "cat >> heard", "notice");
    until([&] { return array(client.must("hooks.list"), "hooks").size() == 2; }, "the hook");
    session = text(message(), "session_id");
    const auto server = start({"python3", "-m", "http.server", "0", "--bind", "127.0.0.1"});
    let_pass(25);
    const auto posted = home.file("hooks/poster/heard");
    until([&] { return !lines_of(posted).empty(); }, "the notice to be heard");

    const auto notice = parse(lines_of(posted).front());
    EXPECT_EQ(text(notice, "session_id"), session);
    EXPECT_EQ(text(notice, "session_key"), key);
    EXPECT_EQ(text(notice, "platform"), "telegram");
    EXPECT_EQ(text(notice, "user_id"), "42");
    EXPECT_EQ(text(notice, "processes.0.process_id"), id_of(server));
    EXPECT_EQ(number(notice, "processes.0.pid"), pid_of(server));
}

}  // namespace
}  // namespace knell::functional
