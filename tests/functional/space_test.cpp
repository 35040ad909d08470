// The picture for visualizers, of one daemon and with another gateway's beside it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/clock.hpp"
#include "testing/loopback_server.hpp"

namespace knell::functional {
namespace {

using knell::testing::LoopbackServer;

class Space : public WithDaemon {
  protected:
    Json look(std::string_view params = "{}") { return client.must("space.activity", params); }

    /// Asks for all until the only gateway is as wanted.
    Json look_until(bool is_reachable) {
        const auto until = read_clocks().steady + wait_max;
        while (read_clocks().steady < until) {
            auto picture = look(R"({"all":true})");
            if (at(picture, "gateways.0.reachable") == Json(is_reachable)) return picture;
            daemon.listen();
        }
        throw std::runtime_error("the gateway does not become as it should");
    }

    void add_gateway(const std::string& url) {
        write_file(home.file("mac.token"), "t0k3n\n");
        chmod(home.file("mac.token").c_str(), 0600);
        write_file(home.file("config.yaml"),
                   fmt::format("space:\n  gateways:\n    - name: mac\n      url: {}\n"
                               "      token_file: mac.token\n",
                               url));
        daemon.wait_for_log("gateway mac added");
    }
};

TEST_F(Space, ShowsWhatIsOpenAndWhatEnded) {
    const auto open = create(R"({"source":"cli","title":"open"})");
    const auto ended = create();
    client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", ended));

    const auto picture = look();

    ASSERT_EQ(array(picture, "sessions").size(), 2U);
    EXPECT_EQ(text(picture, "sessions.0.id"), ended);
    EXPECT_EQ(text(picture, "sessions.0.reason"), "completed");
    EXPECT_EQ(text(picture, "sessions.1.id"), open);
    EXPECT_EQ(text(picture, "sessions.1.status"), "idle");
    const auto tag = wire::to_text(JsonObject{{"if_none_match", text(picture, "etag")}});
    EXPECT_EQ(at(look(tag), "unchanged"), Json(true));
    const auto since = wire::to_text(JsonObject{{"since", text(picture, "next")}});
    EXPECT_EQ(array(look(since), "sessions").size(), 0U);

    client.must("session.title", fmt::format(R"({{"session_id":"{}","title":"new"}})", open));
    const auto changes = look(since);
    ASSERT_EQ(array(changes, "sessions").size(), 1U);
    EXPECT_EQ(text(changes, "sessions.0.title"), "new");
    daemon.restart();
    client = Client(home.socket());
    EXPECT_EQ(at(look(since), "whole"), Json(true)) << "this daemon never told that";
}

TEST_F(Space, ShowsAnotherGatewayAndKeepsWhatItToldWhenItFallsSilent) {
    constexpr auto time = "2026-11-15T03:52:25.001Z";
    const auto theirs =
        wire::to_text(JsonObject{{"etag", "\"1\""},
                                 {"sessions", JsonArray{JsonObject{{"id", "x"},
                                                                   {"node", "n2"},
                                                                   {"source", "cli"},
                                                                   {"generation", 1},
                                                                   {"status", "running"},
                                                                   {"status_since", time},
                                                                   {"started_at", time},
                                                                   {"last_activity_at", time},
                                                                   {"message_count", 3}}}}});
    create();
    {
        LoopbackServer server(
            fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", theirs.size(), theirs));
        add_gateway(server.url(""));
        const auto picture = look_until(/*is_reachable=*/true);
        ASSERT_EQ(array(picture, "sessions").size(), 2U);
        EXPECT_EQ(text(picture, "sessions.1.gateway"), "mac");
        EXPECT_EQ(at(picture, "sessions.1.stale"), Json(nullptr));
        EXPECT_NE(server.requests().at(0).find("Authorization: Bearer t0k3n"), std::string::npos);
        EXPECT_EQ(array(look(), "sessions").size(), 1U) << "unless all is asked for";
    }
    const auto picture = look_until(/*is_reachable=*/false);
    ASSERT_EQ(array(picture, "sessions").size(), 2U);
    EXPECT_EQ(at(picture, "sessions.1.stale"), Json(true));
    EXPECT_NE(text(picture, "gateways.0.as_of"), "");
    EXPECT_NE(text(picture, "gateways.0.error"), "");
}

TEST_F(Space, StopsThoughAGatewayHangs) {
    LoopbackServer silent(
        [](const std::string&) { return LoopbackServer::Reply{"", LoopbackServer::Then::hang}; });
    add_gateway(silent.url(""));
    look(R"({"all":true})");
    const auto until = read_clocks().steady + wait_max;
    while (silent.requests().empty() && read_clocks().steady < until) daemon.listen();

    EXPECT_EQ(daemon.terminate(), 0);
}

}  // namespace
}  // namespace knell::functional
