// The server on a thread of its own, with clients on real sockets that send what they like.

#include "net/http/server.hpp"

#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http/bounds.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/tcp_peer.hpp"

namespace knell::net::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Client = knell::testing::TcpPeer;

constexpr auto full = "full-token-full-token-full-token";
constexpr auto read_only = "read-token-read-token-read-token";

std::string fields(std::string_view token) {
    return fmt::format("Host: localhost\r\nAuthorization: Bearer {}\r\n", token);
}
std::string get(std::string_view path, std::string_view token = full) {
    return fmt::format("GET {} HTTP/1.1\r\n{}\r\n", path, fields(token));
}
std::string post(std::string_view body, std::string_view token = full) {
    return fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}", fields(token),
                       body.size(), body);
}
std::string call(std::string_view method, std::string_view params = "{}") {
    return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params);
}
std::string create(std::string_view id) {
    return call("session.create",
                fmt::format(R"({{"id":"{}","source":"cli","owner":{{"lease_ttl_s":60}}}})", id));
}

class HttpServer : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto listening = server_.listen("127.0.0.1", 0);
        ASSERT_TRUE(listening) << listening.error().message;
        address_ = *listening;
        server_.set_rules({.tokens = {.full = full, .read_only = read_only}});
        quick_ = quick_server_.listen("127.0.0.1", 0).value();
        quick_server_.set_rules({.tokens = {.full = full, .read_only = read_only}});
        thread_ = std::jthread([this] { loop_.run(); });
    }
    void TearDown() override { loop_.stop(); }

    Client client() const { return Client(address_); }
    static Client client(const std::string& address) { return Client(address); }
    std::string ask(std::string_view request) const {
        auto one = client();
        one.send(request);
        return one.read_response();
    }
    /// On the server's thread; waits until it is done.
    void on_server(std::function<void()> work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }

    knell::testing::InProcessBackend backend_;
    EventLoop loop_;
    ClientCount clients_{8};
    std::atomic<bool> ready_ = true;
    Server server_{loop_, backend_.dispatcher(), clients_, [this] { return ready_.load(); }};
    Server quick_server_{loop_, backend_.dispatcher(), clients_, [] { return true; },
                         Deadlines{.header = 500ms, .body = 500ms, .idle = 500ms, .answer = 500ms}};
    std::string address_;
    std::string quick_;  // where nobody has much time
    std::jthread thread_;
};

TEST_F(HttpServer, AnswersReadsAsPlainHttp) {
    EXPECT_THAT(ask(get("/v1/sessions")), HasSubstr("\r\n\r\n{\"sessions\":[],\"folded\":0}\n"));
    ask(post(create("s1")));
    EXPECT_THAT(ask(get("/v1/sessions/s1")), HasSubstr("\"id\":\"s1\""));
    EXPECT_THAT(ask(get("/v1/sessions/s1/why")), StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(ask(get("/v1/sessions/s1/messages")), HasSubstr("\"messages\":[]"));
    EXPECT_THAT(ask(get("/v1/hooks", read_only)), HasSubstr("\"hooks\":[]"));
    EXPECT_THAT(ask(get("/v1/sessions?limit=0")), StartsWith("HTTP/1.1 422 "));
    EXPECT_THAT(ask(get("/v1/sessions/none")), HasSubstr("application/problem+json"));
}

TEST_F(HttpServer, LinksToTheNextPage) {
    ask(post(create("s1")));
    ask(post(create("s2")));
    EXPECT_THAT(ask(get("/v1/sessions?all=true&limit=1")),
                HasSubstr("Link: </v1/sessions?all=true&limit=1&cursor="));
}

TEST_F(HttpServer, TakesCallsAsJsonRpc) {
    EXPECT_THAT(ask(post(call("session.list"))),
                HasSubstr(R"({"jsonrpc":"2.0","id":1,"result":{"sessions":[],"folded":0}})"));
    EXPECT_THAT(ask(post("{")), HasSubstr("-32700"));
    EXPECT_THAT(ask(post(R"({"jsonrpc":"2.0","method":"session.list"})")),
                StartsWith("HTTP/1.1 204 "));
    EXPECT_THAT(ask(post(call("session.create", "{}"))), HasSubstr("source: is required"));
    EXPECT_THAT(ask(post(call("session.create", R"({"source":"web"})"))),
                HasSubstr("\"generation\":1"))
        << "hosted, without a word on its owner";
}

TEST_F(HttpServer, LetsInOnlyWhoHasAToken) {
    EXPECT_THAT(ask("GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_THAT(ask(get("/v1/sessions", "wrong")), StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(ask(get("/nowhere", "wrong")), StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(ask(get("/nowhere")), StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(ask(post(create("x"), read_only)), HasSubstr("-32006"));
    EXPECT_THAT(ask(post(call("hooks.pause", R"({"name":"x"})"))), HasSubstr("allow_processes"));
}

TEST_F(HttpServer, LooksAtHostAndOrigin) {
    EXPECT_THAT(ask(fmt::format("GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n"
                                "Authorization: Bearer {}\r\n\r\n",
                                full)),
                StartsWith("HTTP/1.1 421 "));
    EXPECT_THAT(ask(fmt::format("GET /v1/hooks HTTP/1.1\r\n{}Origin: http://evil.example\r\n\r\n",
                                fields(full))),
                StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(ask(get("/v1/hooks")), Not(HasSubstr("Access-Control")));
}

TEST_F(HttpServer, TellsOfItsHealthToEverybody) {
    const auto health = [this](std::string_view path) {
        return ask(fmt::format("GET {} HTTP/1.1\r\nHost: 10.9.8.7\r\n\r\n", path));
    };
    EXPECT_THAT(health("/healthz"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(health("/readyz"), StartsWith("HTTP/1.1 200 "));
    ready_ = false;
    EXPECT_THAT(health("/healthz"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(health("/readyz"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
    auto one = client();
    one.send(get("/healthz") + post(create("s1")) + get("/v1/sessions/s1") + get("/nowhere"));

    EXPECT_THAT(one.read_response(), HasSubstr("ok\n"));
    EXPECT_THAT(one.read_response(), HasSubstr("\"session_id\":\"s1\""));
    EXPECT_THAT(one.read_response(), HasSubstr("\"id\":\"s1\""));
    EXPECT_THAT(one.read_response(), StartsWith("HTTP/1.1 404 "));
    one.send(get("/healthz"));
    EXPECT_THAT(one.read_response(), HasSubstr("ok\n")) << "the connection goes on";
}

TEST_F(HttpServer, ReadsBodiesInChunksAndAsksForThem) {
    const auto body = call("session.list");
    auto one = client();
    one.send(
        fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Transfer-Encoding: chunked\r\n"
                    "Expect: 100-continue\r\n\r\n",
                    fields(full)));
    EXPECT_EQ(one.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    one.send(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body));
    EXPECT_THAT(one.read_response(), HasSubstr("\"sessions\":[]"));
}

TEST_F(HttpServer, HeadHasNoBody) {
    auto one = client();
    one.send(fmt::format("HEAD /v1/sessions HTTP/1.1\r\n{}\r\n", fields(full)) + get("/healthz"));
    EXPECT_THAT(one.read_until("\r\n\r\n"), HasSubstr("Content-Length: 27\r\n"));
    EXPECT_THAT(one.read_response(), HasSubstr("ok\n"));
}

TEST_F(HttpServer, ClosesAfterWhatIsNoRequest) {
    for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
             {"nonsense\r\n\r\n", "400"},
             {fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Content-Length: 5\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                          fields(full)),
              "400"},
             {fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Transfer-Encoding: gzip\r\n\r\n",
                          fields(full)),
              "501"},
             {fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Content-Length: 9999999\r\n\r\n",
                          fields(full)),
              "413"},
             {"GET / HTTP/1.1\r\nX: " + std::string(bounds::header_bytes_max, 'a') + "\r\n\r\n",
              "431"},
             {get("/" + std::string(bounds::target_bytes_max, 'a')), "414"},
             {fmt::format("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", fields(full)), "400"}}) {
        auto one = client();
        one.send(request + get("/v1/sessions"));
        const auto said = one.read_all();
        EXPECT_THAT(said, StartsWith("HTTP/1.1 " + status)) << request.substr(0, 60);
        EXPECT_THAT(said, Not(HasSubstr("\"sessions\""))) << "what follows is not answered";
    }
}

TEST_F(HttpServer, SendsEventsAsTheyHappen) {
    ask(post(create("s1")));
    auto one = client();
    one.send(get("/v1/events?types=session:start"));
    EXPECT_THAT(one.read_until(": alive\n\n"), HasSubstr("text/event-stream"));

    ask(post(create("s2")));

    const auto event = one.read_until("\n\n");
    EXPECT_THAT(event, HasSubstr("event: session:start\ndata: {\"seq\":"));
    EXPECT_THAT(event, HasSubstr("\"session_id\":\"s2\""));
}

TEST_F(HttpServer, SendsEventsAfterTheLastThatWasSeen) {
    ask(post(create("s1")));
    auto one = client();
    one.send(
        fmt::format("GET /v1/events HTTP/1.1\r\n{}Last-Event-ID: 0\r\n\r\n", fields(read_only)));
    one.read_until(": alive\n\n");
    EXPECT_THAT(one.read_until("\n\n"), HasSubstr("\"session_id\":\"s1\""));

    EXPECT_THAT(ask(get("/v1/events?after=900")), StartsWith("HTTP/1.1 422 "));
    EXPECT_THAT(ask(get("/v1/events?types=party")), StartsWith("HTTP/1.1 422 "));
}

TEST_F(HttpServer, ATokenThatIsReplacedEndsWhatItOpened) {
    auto by_full = client();
    by_full.send(get("/v1/events"));
    by_full.read_until(": alive\n\n");
    auto by_read = client();
    by_read.send(get("/v1/events", read_only));
    by_read.read_until(": alive\n\n");

    on_server([this] {
        server_.set_rules({.tokens = {.full = "another-token", .read_only = read_only}});
    });

    EXPECT_THAT(by_full.read_all(), IsEmpty());
    EXPECT_THAT(ask(get("/v1/hooks")), StartsWith("HTTP/1.1 401 "));
    ask(post(create("s9"), "another-token"));
    EXPECT_THAT(by_read.read_until("\n\n"), HasSubstr("s9"));
}

TEST_F(HttpServer, EndsWhatAllowsLessThanBefore) {
    const auto allow = [this](bool processes) {
        on_server([this, processes] {
            server_.set_rules({.tokens = {.full = full, .read_only = read_only},
                               .hosts = {},
                               .listen_host = {},
                               .allow_processes = processes});
        });
    };
    allow(true);
    auto one = client();
    one.send(get("/v1/events"));
    one.read_until(": alive\n\n");
    allow(false);
    EXPECT_THAT(one.read_all(), IsEmpty());
}

TEST_F(HttpServer, ClosesItsClientsWhenToldTo) {
    auto idle = client();
    idle.send(get("/healthz"));
    idle.read_response();
    on_server([this] {
        server_.stop_listening();
        server_.close_clients();
    });
    EXPECT_THAT(idle.read_all(), IsEmpty());
    EXPECT_THROW(client(), std::runtime_error);
}

TEST_F(HttpServer, WhoTakesTooLongIsClosed) {
    for (const auto& begun :
         {std::string{}, std::string("GET /hea"),
          fmt::format("POST /v1/rpc HTTP/1.1\r\n{}Content-Length: 9\r\n\r\n{{", fields(full))}) {
        auto slow = client(quick_);
        slow.send(begun);
        EXPECT_THAT(slow.read_all(), IsEmpty()) << begun;
    }
    auto idle = client(quick_);
    idle.send(get("/healthz"));
    EXPECT_THAT(idle.read_response(), HasSubstr("ok\n"));
    EXPECT_THAT(idle.read_all(), IsEmpty());
}

TEST_F(HttpServer, OneMoreThanTheMostIsTurnedAway) {
    std::vector<Client> open;
    for (int i = 0; i < 6; ++i) {
        open.push_back(client());
        open.back().send(get("/v1/hooks"));
        ASSERT_THAT(open.back().read_response(), HasSubstr("\"hooks\""));
    }
    EXPECT_THAT(client().read_all(), StartsWith("HTTP/1.1 503 "));
    EXPECT_EQ(clients_.open(), 6U) << "two of eight places are for the unix socket";
}

}  // namespace
}  // namespace knell::net::http
