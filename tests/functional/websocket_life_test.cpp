// Sessions made over WebSocket: who keeps them, what their clients hear across disconnects,
// restarts and new tokens.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/http.hpp"

namespace knell::functional {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Opcode = WebSocketClient::Opcode;

constexpr auto to_s = R"({"session_id":"s"})";
constexpr auto turn_of_s = R"({"session_id":"s","generation":1})";

class WebSocketLife : public ::testing::Test {
  protected:
    WebSocketClient connected() const {
        auto one = http.websocket();
        EXPECT_TRUE(one.is_open());
        return one;
    }
    WebSocketClient with_session() const {
        auto one = connected();
        one.must("session.create", R"({"id":"s","source":"web"})");
        return one;
    }
    std::string status() const { return text(parse(http.get("/v1/sessions/s").body), "status"); }

    TempHome home;
    HttpDaemon http{home};
};

/// The numbers of the next events up to one of that type.
std::vector<std::int64_t> heard_until(WebSocketClient& client, std::string_view type) {
    std::vector<std::int64_t> numbers;
    for (;;) {
        const auto event = client.next_event();
        if (!event) throw std::runtime_error("the connection was closed");
        numbers.push_back(number(*event, "seq"));
        if (text(*event, "type") == type) return numbers;
    }
}

TEST_F(WebSocketLife, ASessionWithoutAnOwnerIsHosted) {
    auto client = with_session();
    const auto shown = parse(http.get("/v1/sessions/s").body);
    EXPECT_EQ(text(shown, "owner.kind"), "hosted");
    EXPECT_EQ(text(shown, "status"), "detached");
    client.must("session.attach", to_s);
    EXPECT_EQ(status(), "attached");
    client.close();
    while (status() != "detached") {
    }
    EXPECT_THAT(http.rpc("session.create", R"({"id":"p","source":"web"})").body,
                HasSubstr("\"generation\":1"));
    EXPECT_THAT(http.rpc("session.attach", R"({"session_id":"p"})").body, HasSubstr("/v1/ws"))
        << "a request is over with its answer";
}

TEST_F(WebSocketLife, ADroppedClientMissesNothing) {
    auto client = with_session();
    const auto after = number(client.must("session.attach", to_s), "after");
    client.must("turn.start", turn_of_s);
    client.cut();
    auto other = connected();
    other.must("turn.end", turn_of_s);

    auto back = connected();
    back.must("session.attach", fmt::format(R"({{"session_id":"s","after":{}}})", after));

    EXPECT_THAT(heard_until(back, "agent:end"), ElementsAre(after + 1, after + 2, after + 3));
}

TEST_F(WebSocketLife, ARestartOfTheDaemonLeavesNoSeam) {
    auto client = with_session();
    const auto after = number(client.must("session.attach", to_s), "after");
    client.must("turn.start", turn_of_s);
    const auto heard = heard_until(client, "agent:start");

    http.restart();

    EXPECT_EQ(client.next_event(), std::nullopt) << "it is told by the end of the connection";
    EXPECT_EQ(status(), "running");
    auto back = connected();
    const auto again = back.must("session.attach",
                                 fmt::format(R"({{"session_id":"s","after":{}}})", heard.back()));
    EXPECT_EQ(number(again, "generation"), 1);
    back.must("turn.end", turn_of_s);
    back.must("session.close", to_s);
    auto all = heard;
    for (const auto number : heard_until(back, "session:end")) all.push_back(number);
    std::vector<std::int64_t> recorded;
    const auto events = parse(home.knell({"rpc", "events.read", to_s}).out);
    for (const auto& event : array(events, "events")) {
        if (number(event, "seq") > after) recorded.push_back(number(event, "seq"));
    }
    EXPECT_EQ(all, recorded) << "each once, in order, none missing";
}

TEST_F(WebSocketLife, ANewTokenClosesWhoCameWithTheOldOneAndEndsNoSession) {
    auto client = with_session();
    client.must("session.attach", to_s);
    auto reader = WebSocketClient(http.address(), http.read_token());
    EXPECT_TRUE(reader.call("session.list").ok());

    const auto fresh = home.knell({"token", "rotate"}).out.substr(0, http.token().size());

    while (client.next_event()) {
    }
    while (!http.log().contains("HTTP connections closed: 1; their token was replaced")) {
        http.listen();
    }
    EXPECT_FALSE(http.websocket().is_open());
    EXPECT_TRUE(reader.call("session.list").ok()) << "it came by another token";
    WebSocketClient back(http.address(), fresh);
    ASSERT_TRUE(back.is_open());
    EXPECT_EQ(number(back.must("session.attach", to_s), "generation"), 1);
}

TEST_F(WebSocketLife, AReadOnlyTokenChangesNothing) {
    auto client = with_session();
    auto reader = WebSocketClient(http.address(), http.read_token());
    for (const auto* method : {"session.attach", "session.close", "session.resume"}) {
        EXPECT_EQ(reader.call(method, to_s).code(), -32006) << method;
    }
    EXPECT_EQ(reader.call("turn.start", turn_of_s).code(), -32006);
    EXPECT_TRUE(reader.call("events.subscribe").ok());
    client.must("session.close", to_s);
    EXPECT_EQ(text(*reader.next_event(), "type"), "session:end");
}

TEST_F(WebSocketLife, AProblemOfOneClientIsNobodyElses) {
    auto client = with_session();
    auto rude = connected();
    rude.send(Opcode::binary, "{}");
    EXPECT_EQ(rude.closing_code(), 1003);
    auto long_winded = connected();
    const std::string piece(256U << 10U, ' ');
    long_winded.send(Opcode::text, piece, /*is_last=*/false);
    for (int i = 0; i < 4; ++i) {
        long_winded.send(Opcode::continuation, piece, /*is_last=*/false);
    }
    EXPECT_EQ(long_winded.closing_code(), 1009);
    EXPECT_EQ(text(client.must("session.show", to_s), "status"), "detached");
}

}  // namespace
}  // namespace knell::functional
