// Clients that send a byte at a time, or never read: each is closed when its time is over, and
// nobody is kept waiting by them.  The deadlines are short; nothing here measures them.

#include <atomic>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "net/http/server.hpp"
#include "testing/client_frame.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/tcp_peer.hpp"

namespace knell::net::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Client = knell::testing::TcpPeer;

constexpr auto token = "full-token-full-token-full-token";
/// So much more than the kernel takes for a client that does not read.
constexpr int long_events = 20'000;

std::string request(std::string_view line, std::string_view more = "") {
    return fmt::format("{} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{}\r\n", line,
                       token, more);
}

class SlowClients : public ::testing::Test {
  protected:
    void SetUp() override {
        address_ = server_.listen("127.0.0.1", 0).value();
        server_.set_rules({.tokens = {.full = token, .read_only = {}}});
        thread_ = std::jthread([this] { loop_.run(); });
    }
    void TearDown() override { loop_.stop(); }

    Client client() const { return Client(address_); }
    /// The kernel takes little for it.
    Client deaf_client() const { return {address_, {.receive_buffer = 4096}}; }
    std::string ask(std::string_view text) const {
        auto one = client();
        one.send(text);
        return one.read_response();
    }
    /// Until the server has closed it, or it has all of them.
    bool is_closed_during(Client& client, std::string_view bytes) const {
        for (const char& byte : bytes) {
            pollfd end{.fd = client.fd(), .events = POLLIN, .revents = 0};
            if (::poll(&end, 1, 10) > 0) return client.read_bytes(1).empty();
            client.send({&byte, 1});
        }
        return false;
    }
    void wait_until_alone() const {
        while (clients_.open() > 0) std::this_thread::yield();
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
    void make_long_events() {
        on_server([this] {
            backend_.answer(
                R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"id":"s","source":"cli"}})");
            for (int i = 0; i < long_events; ++i) {
                backend_.answer(fmt::format(
                    R"({{"jsonrpc":"2.0","id":1,"method":"session.title","params":{{"session_id":"s","title":"{}{}"}}}})",
                    i, std::string(900, 't')));
            }
        });
    }

    knell::testing::InProcessBackend backend_;
    EventLoop loop_;
    ClientCount clients_{8};  // six of them here
    Server server_{loop_, backend_.dispatcher(), clients_, [] { return true; },
                   Deadlines{.header = 500ms,
                             .body = 500ms,
                             .idle = 500ms,
                             .answer = 500ms,
                             .unsent = 500ms,
                             .silence = 5s}};
    std::string address_;
    std::jthread thread_;
};

TEST_F(SlowClients, AHeaderOfOneByteAtATimeHasOneDeadline) {
    auto slow = client();
    EXPECT_TRUE(is_closed_during(slow, request("GET /v1/hooks", std::string(8000, 'x'))));
}

TEST_F(SlowClients, ASecondHeaderHasOneToo) {
    auto slow = client();
    slow.send(request("GET /v1/hooks"));
    EXPECT_THAT(slow.read_response(), StartsWith("HTTP/1.1 200 "));
    EXPECT_TRUE(is_closed_during(slow, request("GET /v1/hooks", std::string(8000, 'x'))));
}

TEST_F(SlowClients, ABodyOfOneByteAtATimeHasOneDeadline) {
    auto slow = client();
    slow.send(request("POST /v1/rpc", "Content-Length: 9000\r\n"));
    EXPECT_TRUE(is_closed_during(slow, std::string(8000, ' ')));
    auto chunked = client();
    chunked.send(request("POST /v1/rpc", "Transfer-Encoding: chunked\r\n"));
    std::string chunks;
    for (int i = 0; i < 2000; ++i) chunks += "1\r\n \r\n";
    EXPECT_TRUE(is_closed_during(chunked, chunks));
}

TEST_F(SlowClients, WhoDoesNotReadItsAnswersIsClosed) {
    on_server([this] { backend_.report_trouble(900'000); });
    auto deaf = deaf_client();
    std::string requests;
    for (int i = 0; i < 20; ++i) requests += request("GET /v1/hooks");
    deaf.send(requests);
    EXPECT_EQ(deaf.read_bytes(4), "HTTP") << "it was let in, and reads no more";

    wait_until_alone();

    EXPECT_LT(deaf.read_all().size(), 20U * 900'000U);
}

TEST_F(SlowClients, WhoFollowsAndDoesNotReadIsClosed) {
    make_long_events();
    auto deaf = deaf_client();
    deaf.send(request("GET /v1/events?after=0"));
    auto other = client();
    other.send(request("GET /v1/events"));
    EXPECT_THAT(other.read_until(": alive\n\n"), StartsWith("HTTP/1.1 200 "));

    while (clients_.open() > 1) std::this_thread::yield();

    const auto said = deaf.read_all();
    EXPECT_THAT(said, StartsWith("HTTP/1.1 200 "));
    EXPECT_LT(said.size(), long_events * 900U);
    EXPECT_THAT(ask(request("GET /v1/hooks")), StartsWith("HTTP/1.1 200 "));
    on_server([this] {
        backend_.answer(
            R"({"jsonrpc":"2.0","id":1,"method":"session.pin","params":{"session_id":"s"}})");
    });
    EXPECT_THAT(other.read_until("\n\n"), HasSubstr("session:update")) << "the other one goes on";
}

TEST_F(SlowClients, WhoFollowsByWebSocketAndDoesNotReadIsClosed) {
    make_long_events();
    auto deaf = deaf_client();
    deaf.send(request("GET /v1/ws",
                      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
    EXPECT_THAT(deaf.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 101 "));
    const std::string call =
        R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"after":0}})";
    deaf.send(knell::testing::client_frame(/*opcode=*/1, call));

    wait_until_alone();

    const auto said = deaf.read_all();
    EXPECT_THAT(said, HasSubstr(R"("result":{"after":0})"));
    EXPECT_LT(said.size(), long_events * 900U);
}

TEST_F(SlowClients, WhoShowsATokenIsLetInWhereAllPlacesAreTakenByStrangers) {
    std::vector<Client> half_open;
    for (int i = 0; i < 50; ++i) {
        half_open.push_back(client());
        half_open.back().send("GET /v1/ho");
        EXPECT_THAT(ask(request("GET /v1/hooks")), StartsWith("HTTP/1.1 200 ")) << i;
    }
    EXPECT_EQ(half_open.front().read_all(), "") << "the first made room";
}

}  // namespace
}  // namespace knell::net::http
