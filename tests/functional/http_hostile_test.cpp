// Clients that mean harm, at a real daemon: none gets in without a token, none makes one request
// look like two, none keeps others out.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/http.hpp"
#include "functional/harness/resources.hpp"

namespace knell::functional {
namespace {

using knell::testing::TcpPeer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

class HostileClients : public ::testing::Test {
  protected:
    /// All that is said to these bytes, to the end of the connection.
    std::string said_to(std::string_view bytes) const {
        TcpPeer peer(http.address());
        peer.send(bytes);
        return peer.read_all();
    }
    std::string authorized() const {
        return fmt::format("Host: {}\r\nAuthorization: Bearer {}\r\n", http.address(),
                           http.token());
    }
    /// A request that would be seen: it makes a session.
    std::string smuggled() const {
        constexpr std::string_view body =
            R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"web"}})";
        return fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}", authorized(),
                           body.size(), body);
    }
    /// `s`, with 3.6 MB of messages.
    void create_long_session() const {
        http.rpc("session.create", R"({"id":"s","source":"web"})");
        write_file(home.file("call"),
                   fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.append","params":{{)"
                               R"("session_id":"s","generation":1,"messages":[{{"role":"user",)"
                               R"("content":"{}"}}]}}}})",
                               std::string(900'000, 'x')));
        for (int i = 0; i < 4; ++i) http.get("/v1/rpc", {"--data-binary", "@" + home.file("call")});
    }
    std::string sessions() const { return http.get("/v1/sessions?all=true").body; }

    TempHome home;
    HttpDaemon http{home};
};

TEST_F(HostileClients, ARequestIsNeverReadAsTwo) {
    const auto hidden = smuggled();
    const auto all = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", hidden.size(), hidden);
    for (const auto& [fields, body] : std::vector<std::pair<std::string, std::string>>{
             {"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", all},
             {"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n" + hidden},
             {"Content-Length: 0\r\nContent-Length: 5\r\n", hidden},
             {"Content-Length: 5\r\nContent-Length: 0\r\n", hidden},
             {"Content-Length: 0, 0\r\n", hidden},
             {"Content-Length: +0\r\n", hidden},
             {"Content-Length: 0x0\r\n", hidden},
             {"Content-Length: 18446744073709551616\r\n", hidden},
             {"Content-Length : 0\r\n", hidden},
             {"Content-Length\r\n : 0\r\n", hidden},
             {"Content-Length:\x0b"
              "0\r\n",
              hidden},
             {"X: a\nContent-Length: 0\r\n", hidden},
             {"X: a\rContent-Length: 0\r\n", hidden},
             {std::string("X: \0Content-Length: 0\r\n", 23), hidden},
             {"Transfer-Encoding: identity\r\n", hidden},
             {"Transfer-Encoding: chunked, identity\r\n", hidden},
             {"Transfer-Encoding: identity, chunked\r\n", all},
             {"Transfer-Encoding: xchunked\r\n", hidden},
             {"Transfer-Encoding: \x0b"
              "chunked\r\n",
              "0\r\n\r\n" + hidden},
             {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", hidden},
             {"Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + hidden},
             {" Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden},
             {"Transfer_Encoding: chunked\r\nContent-Length: 0\r\nContent-Length: 1\r\n", hidden},
             // Chunks that some would read otherwise.
             {"Transfer-Encoding: chunked\r\n", "0x0\r\n\r\n" + hidden},
             {"Transfer-Encoding: chunked\r\n", "-1\r\n\r\n" + hidden},
             {"Transfer-Encoding: chunked\r\n", "10000000000000000\r\n\r\n" + hidden},
             {"Transfer-Encoding: chunked\r\n", "0\n\n" + hidden},
             {"Transfer-Encoding: chunked\r\n", "1\r\n{}\r\n0\r\n\r\n" + hidden},
             {"Transfer-Encoding: chunked\r\n", "1\n{\n0\n\n" + hidden}}) {
        const auto said =
            said_to("POST /v1/rpc HTTP/1.1\r\n" + authorized() + fields + "\r\n" + body);
        EXPECT_THAT(said, StartsWith("HTTP/1.1 ")) << fields;
        EXPECT_EQ(count(said, "HTTP/1.1 "), 1U) << fields << said;
        EXPECT_THAT(said, Not(StartsWith("HTTP/1.1 2"))) << fields;
        EXPECT_THAT(said, HasSubstr("Connection: close")) << fields;
    }
    EXPECT_THAT(sessions(), HasSubstr("\"sessions\":[]"));
}

TEST_F(HostileClients, WhatNobodyReadsIsNoRequest) {
    const auto hidden = smuggled();
    const auto with_body = fmt::format("Content-Length: {}\r\n\r\n{}", hidden.size(), hidden);
    for (const auto* line :
         {"GET /healthz", "HEAD /healthz", "DELETE /v1/rpc", "GET /nowhere", "GET /v1/sessions",
          "GET /v1/events", "HEAD /v1/events", "GET /v1/ws"}) {
        SCOPED_TRACE(line);
        TcpPeer peer(http.address());
        peer.send(fmt::format("{} HTTP/1.1\r\n{}{}", line, authorized(), with_body));
        EXPECT_THAT(peer.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 "));
        peer.send("\r\n\r\n");
    }
    // Without a token nothing behind it is read at all.
    const auto said = said_to("POST /v1/rpc HTTP/1.1\r\nHost: localhost\r\n" + with_body);
    EXPECT_THAT(said, StartsWith("HTTP/1.1 401 "));
    EXPECT_EQ(count(said, "HTTP/1.1 "), 1U);
    EXPECT_THAT(sessions(), HasSubstr("\"sessions\":[]"));
}

TEST_F(HostileClients, WhatFollowsAnUpgradeIsNoRequest) {
    const auto said =
        said_to("GET /v1/ws HTTP/1.1\r\n" + authorized() +
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
                smuggled());
    EXPECT_EQ(count(said, "HTTP/1.1 "), 1U) << said;
    const auto other = said_to("GET /v1/status HTTP/1.1\r\n" + authorized() +
                               "Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n");
    EXPECT_THAT(other, StartsWith("HTTP/1.1 200 ")) << "what is not spoken here is ignored";
    EXPECT_THAT(sessions(), HasSubstr("\"sessions\":[]"));
}

TEST_F(HostileClients, NobodyGetsInWithoutATokenHostAndOriginOfOurs) {
    const auto status_of = [&](std::string_view fields) {
        return said_to(
                   fmt::format("GET /v1/status HTTP/1.1\r\nConnection: close\r\n{}\r\n", fields))
            .substr(9, 3);
    };
    const auto bearer = fmt::format("Authorization: Bearer {}\r\n", http.token());
    const auto host = fmt::format("Host: {}\r\n", http.address());
    ASSERT_EQ(status_of(host + bearer), "200");
    EXPECT_EQ(status_of(host + "Authorization: bearer  " + http.token() + "\r\n"), "200");
    for (const auto& wrong : std::vector<std::string>{
             "", "Authorization: Bearer\r\n", "Authorization: Basic " + http.token() + "\r\n",
             "Authorization: " + http.token() + "\r\n", "Cookie: token=" + http.token() + "\r\n",
             "Authorization: Bearer " + http.token().substr(1) + "\r\n",
             "Authorization: Bearer " + http.token() + "0\r\n"}) {
        EXPECT_EQ(status_of(host + wrong), "401") << wrong;
    }
    EXPECT_EQ(status_of(bearer), "400") << "no Host";
    EXPECT_EQ(status_of(host + host + bearer), "400");
    for (const auto* foreign : {"evil.example", "localhost.evil.example", "localhost@evil.example",
                                "127.0.0.1.evil.example", "[::2]", "localhost:7717:80", "",
                                "localhost, evil.example", "2130706433"}) {
        EXPECT_EQ(status_of(fmt::format("Host: {}\r\n{}", foreign, bearer)), "421") << foreign;
    }
    for (const auto* foreign : {"http://evil.example", "null", "http://localhost.evil.example",
                                "http://localhost:1", "file://", "", "http://127.0.0.1:1"}) {
        EXPECT_EQ(status_of(fmt::format("{}{}Origin: {}\r\n", host, bearer, foreign)), "403")
            << foreign;
    }
    EXPECT_THAT(said_to("GET /v1/status?token=" + http.token() +
                        " HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(said_to("GET http://evil.example/v1/status HTTP/1.1\r\nConnection: close\r\n" +
                        host + bearer + "\r\n"),
                StartsWith("HTTP/1.1 4"));
}

TEST_F(HostileClients, HeadersAreBoundedHoweverTheyGrow) {
    const auto start = "GET /v1/status HTTP/1.1\r\n" + authorized();
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += "a:\r\n";
    for (const auto& bomb : {many, "X: " + std::string(1U << 20U, 'x') + "\r\n",
                             std::string(1U << 20U, 'x'), "X:" + std::string(1U << 20U, ' ')}) {
        const auto said = said_to(start + bomb + "\r\n");
        EXPECT_THAT(said, StartsWith("HTTP/1.1 431 ")) << bomb.substr(0, 20);
    }
    std::string folded = "X: a\r\n";
    for (int i = 0; i < 10'000; ++i) folded += " a\r\n";
    EXPECT_THAT(said_to(start + folded + "\r\n"), StartsWith("HTTP/1.1 4"));
    EXPECT_THAT(said_to("GET /" + std::string(1U << 20U, 'a')), StartsWith("HTTP/1.1 4"));
    EXPECT_THAT(said_to(std::string(1U << 20U, 'G')), StartsWith("HTTP/1.1 4"));
    // Between chunks and behind them.
    const auto chunked =
        "POST /v1/rpc HTTP/1.1\r\n" + authorized() + "Transfer-Encoding: chunked\r\n\r\n";
    EXPECT_THAT(said_to(chunked + "1;" + std::string(1U << 20U, 'x')), StartsWith("HTTP/1.1 4"));
    EXPECT_THAT(said_to(chunked + "0\r\nX: " + std::string(1U << 20U, 'x')),
                StartsWith("HTTP/1.1 4"));
}

TEST_F(HostileClients, ThousandsOfHalfOpenOnesKeepNobodyOut) {
    const auto room = raise_descriptor_limit();
    const auto wanted = std::min<std::size_t>(3'000, room - 200);
    const auto before = memory_of(http.pid());
    std::vector<TcpPeer> half_open;
    half_open.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i) {
        half_open.emplace_back(http.address());
        if (i % 2 == 0) half_open.back().send("GET /v1/status HTTP/1.1\r\nHo");
    }
    EXPECT_EQ(http.get("/v1/status").status, 200);
    EXPECT_TRUE(http.websocket().call("session.list").ok());
    if (!is_sanitized) {
        EXPECT_LT(memory_of(http.pid()), before + wanted * (16U << 10U));
    }
    EXPECT_EQ(home.knell({"status"}).status, 0);
}

TEST(FewPlaces, StrangersMakeRoomForWhoIsKnown) {
    const TempHome home;
    HttpDaemon http(home, {.descriptors_max = 100});
    std::vector<TcpPeer> half_open;
    for (int i = 0; i < 200; ++i) half_open.emplace_back(http.address());

    auto known = http.websocket();
    EXPECT_TRUE(known.call("session.list").ok());
    for (int i = 0; i < 200; ++i) half_open.emplace_back(http.address());

    EXPECT_TRUE(known.call("session.list").ok()) << "it has its place";
    EXPECT_EQ(http.get("/v1/status").status, 200);
    EXPECT_EQ(home.knell({"status", "--json"}).status, 0) << "some places are for the socket alone";
}

TEST_F(HostileClients, AnswersThatNobodyReadsAreBoundedOverAllClients) {
    create_long_session();
    const auto before = memory_of(http.pid());
    TcpPeer polite(http.address());
    std::vector<TcpPeer> deaf;
    std::vector<WebSocketClient> deaf_too;
    for (int i = 0; i < 40; ++i) {
        deaf.emplace_back(http.address(), TcpPeer::Options{.receive_buffer = 4096});
        deaf.back().send("GET /v1/sessions/s/messages HTTP/1.1\r\n" + authorized() + "\r\n");
        deaf_too.emplace_back(http.address(), http.token(),
                              TcpPeer::Options{.receive_buffer = 4096});
        ASSERT_TRUE(deaf_too.back().is_open());
        deaf_too.back().send_call("session.show", R"({"session_id":"s","messages":10})");
        // Reads are answered in order: when this one is, so are those before.
        polite.send("GET /v1/sessions?limit=1 HTTP/1.1\r\n" + authorized() + "\r\n");
        EXPECT_THAT(polite.read_response(), StartsWith("HTTP/1.1 200 "));
    }
    if (!is_sanitized) {
        EXPECT_LT(memory_of(http.pid()), before + (200U << 20U));
    }
    EXPECT_EQ(http.get("/v1/status").status, 200);
    for (int i = 0; i < 3; ++i) {
        polite.send("GET /v1/sessions/s/messages HTTP/1.1\r\n" + authorized() + "\r\n");
        EXPECT_GT(polite.read_response().size(), 3'000'000U) << "others do not read theirs";
        TcpPeer follower(http.address());
        follower.send("GET /v1/events?after=0 HTTP/1.1\r\n" + authorized() + "\r\n");
        EXPECT_THAT(follower.read_until("session:start"), HasSubstr("session:start"));
    }
}

TEST_F(HostileClients, WhatAWebSocketDoesNotReadBoundsWhatIsLookedUpForIt) {
    create_long_session();
    WebSocketClient greedy(http.address(), http.token(), TcpPeer::Options{.receive_buffer = 4096});
    ASSERT_TRUE(greedy.is_open());
    constexpr int calls = 40;
    std::vector<std::int64_t> ids;
    for (int i = 0; i < calls; ++i) {
        ids.push_back(greedy.send_call("session.show", R"({"session_id":"s","messages":10})"));
    }
    auto other = http.websocket();
    const auto queued = [&] { return number(other.must("node.status"), "reads.queued"); };
    for (int i = 0; i < 100'000 && queued() < calls - 3; ++i) {
    }

    for (int i = 0; i < 2 * calls; ++i) ASSERT_GE(queued(), calls - 3) << "they took turns";

    for (const auto id : ids) EXPECT_TRUE(greedy.answer_to(id).ok());
}

}  // namespace
}  // namespace knell::functional
