// Clients of HTTP, server-sent events and WebSocket that nobody here wrote.  curl is in http_test.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/http.hpp"
#include "functional/harness/receiver.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

class RealClients : public ::testing::Test {
  protected:
    /// Runs it to its end with the address of /v1/ws, the token and a session that it may make.
    Outcome run(std::vector<std::string> argv) const {
        argv.insert(argv.end(), {"ws://" + http.address() + "/v1/ws", http.token(), "s"});
        return run_command({.argv = std::move(argv), .cwd = KNELL_RECEIVERS_DIR});
    }

    TempHome home;
    HttpDaemon http{home};
};

/// What tests/receivers/websocket.mjs and websocket.py say when all is well.
constexpr auto all_well = R"({"refused":401}
{"attached":1}
{"long_message_is_the_same":true}
{"answered":500}
{"fragments":"read"}
{"pong":"there?"}
{"heard":["session:attach","agent:start"]}
{"heard":["session:attach","agent:start","agent:end"]}
{"closed":1000}
)";

TEST_F(RealClients, WsOfNpm) {
    if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
    const auto outcome = run({"node", "websocket.mjs"});
    EXPECT_EQ(outcome.out, all_well) << outcome.err;
    EXPECT_EQ(outcome.status, 0);
}

TEST_F(RealClients, WebsocketsOfPython) {
    const std::string python = "/usr/bin/python3";  // Debian's, which has Debian's packages
    if (run_command({.argv = {python, "-c", "import websockets"}}).status != 0) {
        GTEST_SKIP() << "needs Debian's package python3-websockets";
    }
    const auto outcome = run({python, "websocket.py"});
    EXPECT_EQ(outcome.out, all_well) << outcome.err;
    EXPECT_EQ(outcome.status, 0);
}

class EventSource : public RealClients {
  protected:
    void SetUp() override {
        if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
        ::fcntl(out_.reading.get(), F_SETFL, O_NONBLOCK);
    }
    void follow(std::string_view path) {
        node_.emplace(Spawn{.argv = {"node", "eventsource.mjs", http.url(path), http.token(),
                                     "session:start", "session:end"},
                            .cwd = KNELL_RECEIVERS_DIR,
                            .out = out_.writing.get(),
                            .err = STDERR_FILENO});
        out_.writing.reset();
    }
    std::string next_line() {
        while (!said_.contains('\n')) {
            wait_for(out_.reading.get(), POLLIN, "a word of the client");
            if (!read_available(out_.reading.get(), said_)) throw std::runtime_error("it ended");
        }
        auto line = said_.substr(0, said_.find('\n'));
        said_.erase(0, line.size() + 1);
        return line;
    }
    void next_is_open() {
        while (next_line() != R"({"open":true})") {
        }
    }
    /// "session:start a"; what is no event is passed over.
    std::string next_event() {
        for (;;) {
            const auto said = parse(next_line());
            if (number(said, "id") < 0) continue;
            EXPECT_EQ(number(said, "id"), number(said, "seq"));
            EXPECT_GT(number(said, "id"), std::exchange(last_, number(said, "id")));
            return text(said, "type") + " " + text(said, "session_id");
        }
    }
    void create(std::string_view id) const {
        http.rpc("session.create", fmt::format(R"({{"id":"{}","source":"web"}})", id));
    }
    void close(std::string_view id) const {
        http.rpc("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
    }

  private:
    Pipe out_;
    std::string said_;
    std::int64_t last_ = 0;
    std::optional<Process> node_;
};

TEST_F(EventSource, GoesOnWhereItWasWhenTheDaemonIsBack) {
    follow("/v1/events?types=session:start,session:end");
    next_is_open();
    create("a");
    EXPECT_EQ(next_event(), "session:start a");

    close("a");
    http.restart();
    create("b");
    close("b");

    for (const auto* expected : {"session:end a", "session:start b", "session:end b"}) {
        EXPECT_EQ(next_event(), expected);
    }
}

TEST_F(EventSource, IsToldWhenItIsNotLetIn) {
    home.knell({"token", "rotate"});
    while (http.get("/v1/status").status == 200) {
    }
    follow("/v1/events");
    EXPECT_EQ(next_line(), R"({"error":401,"gives_up":true})");
}

TEST_F(RealClients, ValidatorOfOpenApi) {
    if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
    const auto document = http.get("/openapi.json");
    EXPECT_EQ(document.status, 200);
    EXPECT_THAT(document.head, HasSubstr("Content-Type: application/json"));
    const auto verdict =
        run_command({.argv = {"node", "openapi.mjs"}, .cwd = KNELL_RECEIVERS_DIR}, document.body);
    EXPECT_EQ(verdict.out, "valid OpenAPI 3.1\n") << verdict.err;
}

TEST_F(RealClients, Promtool) {
    if (run_command({.argv = {"sh", "-c", "command -v promtool"}}).status != 0) {
        GTEST_SKIP() << "needs promtool, of Debian's package prometheus";
    }
    http.rpc("session.create", R"({"source":"web"})");
    const auto page = http.get("/metrics");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.head, HasSubstr("Content-Type: text/plain; version=0.0.4"));
    const auto verdict = run_command({.argv = {"promtool", "check", "metrics"}}, page.body);
    EXPECT_EQ(verdict.status, 0);
    EXPECT_EQ(verdict.out + verdict.err, "");
}

}  // namespace
}  // namespace knell::functional
