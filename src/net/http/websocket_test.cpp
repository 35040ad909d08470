// WebSocket clients that speak the protocol by hand, and some that do not keep to it.

#include "net/http/websocket.hpp"

#include <functional>
#include <future>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http/server.hpp"
#include "testing/client_frame.hpp"
#include "testing/in_process_backend.hpp"

namespace knell::net::http {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto token = "full-token-full-token-full-token";

enum Opcode : unsigned char { continuation = 0, text = 1, binary = 2, closing = 8, ping = 9 };

struct Frame {
    int opcode = -1;  // -1: the connection is closed
    std::string payload;
};

class WsClient {
  public:
    explicit WsClient(const std::string& address) {
        const auto port = address.substr(address.rfind(':') + 1);
        socket_.connect(
            {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoi(port))});
    }
    std::string upgrade(std::string_view fields = "") {
        const auto request = fmt::format(
            "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n",
            token, fields);
        raw(request);
        return head();
    }
    /// Of a response, whose body is short and comes with it.
    std::string head() {
        std::string head;
        boost::system::error_code ignored;
        asio::read_until(socket_, asio::dynamic_buffer(head), "\r\n\r\n", ignored);
        return head;
    }
    void send(unsigned char opcode, std::string_view payload, bool is_last = true) {
        raw(knell::testing::client_frame(opcode, payload, is_last));
    }
    void raw(std::string_view bytes) {
        boost::system::error_code ignored;
        asio::write(socket_, asio::buffer(bytes), ignored);
    }
    Frame read() {
        boost::system::error_code error;
        const auto take = [&](std::size_t count) {
            std::string bytes(count, '\0');
            asio::read(socket_, asio::buffer(bytes), error);
            return bytes;
        };
        const auto head = take(2);
        if (error) return {};
        std::size_t size = static_cast<unsigned char>(head[1]) & 0x7fU;
        const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (more > 0) size = 0;
        for (const char byte : take(more)) size = size << 8U | static_cast<unsigned char>(byte);
        return {static_cast<unsigned char>(head[0]) & 0xf, take(size)};
    }
    std::string answer(std::string_view method, std::string_view params = "{}") {
        send(text, fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method,
                               params));
        return read().payload;
    }
    /// The code of the closing frame; 0 when none came.
    int closing_code() {
        for (;;) {
            const auto frame = read();
            if (frame.opcode < 0) return 0;
            if (frame.opcode != closing) continue;
            return static_cast<unsigned char>(frame.payload[0]) << 8 |
                   static_cast<unsigned char>(frame.payload[1]);
        }
    }

  private:
    asio::io_context io_;
    asio::ip::tcp::socket socket_{io_};
};

class WebSocketTrial : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto listening = server_.listen("127.0.0.1", 0);
        ASSERT_TRUE(listening) << listening.error().message;
        address_ = *listening;
        server_.set_rules({.tokens = {.full = token, .read_only = {}}});
        quick_ = quick_server_.listen("127.0.0.1", 0).value();
        quick_server_.set_rules({.tokens = {.full = token, .read_only = {}}});
        thread_ = std::jthread([this] { loop_.run(); });
    }
    void TearDown() override { loop_.stop(); }

    void on_server(std::function<void()> work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    /// Whether its reads have to wait.
    bool is_somebody_held() {
        bool is_held = false;
        on_server([&] { is_held = !backend_.held.empty(); });
        return is_held;
    }

    knell::testing::InProcessBackend backend_;
    EventLoop loop_;
    ClientCount clients_{16};
    Server server_{loop_, backend_.dispatcher(), clients_, [] { return true; }};
    Server quick_server_{loop_, backend_.dispatcher(), clients_, [] { return true; },
                         Deadlines{.silence = std::chrono::seconds{1}}};
    std::string address_;
    std::string quick_;  // where nobody may be silent for long
    std::jthread thread_;
};

constexpr auto new_session = R"({"id":"s1","source":"cli","owner":{"lease_ttl_s":60}})";

TEST_F(WebSocketTrial, AnswersCallsOneAMessage) {
    WsClient client(address_);
    EXPECT_THAT(client.upgrade(), StartsWith("HTTP/1.1 101 "));

    EXPECT_EQ(client.answer("session.list"),
              R"({"jsonrpc":"2.0","id":1,"result":{"sessions":[],"folded":0}})");
    EXPECT_THAT(client.answer("session.create", new_session), HasSubstr("\"generation\":1"));
    EXPECT_THAT(client.answer("session.show", R"({"session_id":"x"})"), HasSubstr("-32001"));
}

TEST_F(WebSocketTrial, NothingIsLookedUpForWhoLeavesMuchUnread) {
    WsClient client(address_);
    EXPECT_THAT(client.upgrade(), StartsWith("HTTP/1.1 101 "));
    // More than a socket takes for a client that does not read.
    on_server([this] { backend_.report_trouble(limits::answer_bytes_max - 1000); });
    const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"hooks.list"})";
    client.send(text, call);
    while (!is_somebody_held()) std::this_thread::yield();

    EXPECT_EQ(client.read().opcode, text);

    while (is_somebody_held()) std::this_thread::yield();
    on_server([this] { backend_.report_trouble(10); });
    client.send(text, call);
    EXPECT_THAT(client.read().payload, HasSubstr("\"result\""));
}

TEST_F(WebSocketTrial, AnswersManyAtOnceInTheirOrder) {
    WsClient client(address_);
    client.upgrade();
    constexpr int calls = 1000;
    for (int i = 0; i < calls; ++i) {
        client.send(text, fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"session.list"}})", i));
    }
    for (int i = 0; i < calls; ++i) {
        ASSERT_THAT(client.read().payload, HasSubstr(fmt::format("\"id\":{},", i)));
    }
}

TEST_F(WebSocketTrial, SendsEventsBesideAnswers) {
    WsClient client(address_);
    client.upgrade();
    EXPECT_THAT(client.answer("events.subscribe"), HasSubstr("\"after\":"));
    const auto said = client.answer("session.create", new_session) + client.read().payload;
    EXPECT_THAT(said, HasSubstr(R"("result":{"session_id":"s1")"));
    EXPECT_THAT(said, HasSubstr(R"({"jsonrpc":"2.0","method":"event")"));
}

TEST_F(WebSocketTrial, TakesMessagesInPieces) {
    WsClient client(address_);
    client.upgrade();
    client.send(text, R"({"jsonrpc":"2.0",)", /*is_last=*/false);
    client.send(ping, "are you there");
    EXPECT_EQ(client.read().payload, "are you there");
    client.send(continuation, R"("id":7,"method":"session.list"})");
    EXPECT_THAT(client.read().payload, HasSubstr("\"id\":7"));
}

TEST_F(WebSocketTrial, EndsWithWhoDoesNotKeepToTheProtocol) {
    const auto code_after = [this](auto break_it) {
        WsClient client(address_);
        client.upgrade();
        break_it(client);
        return client.closing_code();
    };
    EXPECT_EQ(code_after([](WsClient& client) { client.send(binary, "{}"); }), 1003);
    EXPECT_EQ(code_after([](WsClient& client) { client.send(text, std::string(2U << 20U, ' ')); }),
              1009);
    EXPECT_EQ(code_after([](WsClient& client) {
                  const std::string piece(64U << 10U, ' ');
                  client.send(text, piece, /*is_last=*/false);
                  for (int i = 0; i < 17; ++i) client.send(continuation, piece, /*is_last=*/false);
              }),
              1009);
    EXPECT_EQ(code_after([](WsClient& client) { client.send(text, "\xff\xfe"); }), 1007);
    EXPECT_EQ(code_after([](WsClient& client) { client.raw("\x81\x02{}"); }), 1002) << "unmasked";
    EXPECT_EQ(code_after([](WsClient& client) { client.send(continuation, "{}"); }), 1002);
    EXPECT_EQ(code_after([](WsClient& client) { client.send(closing, "\x03\xe8"); }), 1000);
}

TEST_F(WebSocketTrial, IsOnlyForWhoAsksForIt) {
    WsClient foreign(address_);
    EXPECT_THAT(foreign.upgrade("Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403 "));
    WsClient plain(address_);
    plain.raw(fmt::format(
        "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", token));
    EXPECT_THAT(plain.head(), HasSubstr("Upgrade: websocket"));
}

TEST_F(WebSocketTrial, IsAskedAndClosedWhenItIsSilent) {
    WsClient client(quick_);
    client.upgrade();
    EXPECT_EQ(client.read().opcode, ping);
    EXPECT_EQ(client.closing_code(), 0) << "it is not there to be told";
}

/// As many calls as a client may have wait for the store, and so nothing more is read of it.
TEST_F(WebSocketTrial, IsNotSilentWhileItWaitsForUs) {
    loop_.post([this] { backend_.holds_reads = true; });
    WsClient waiting(quick_);
    waiting.upgrade();
    constexpr std::size_t calls = limits::calls_per_connection_max + 50;
    for (std::size_t i = 0; i < calls; ++i) {
        waiting.send(text,
                     fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"session.list"}})", i));
    }
    WsClient silent(quick_);
    silent.upgrade();
    EXPECT_EQ(silent.closing_code(), 0) << "it came later, and its time is over";

    loop_.post([this] {
        backend_.holds_reads = false;
        backend_.do_reads();
    });

    for (std::size_t i = 0; i < calls; ++i) {
        ASSERT_THAT(waiting.read().payload, HasSubstr(fmt::format("\"id\":{},", i)));
    }
}

TEST_F(WebSocketTrial, IsGoneFromTheCountWhenItHangsUp) {
    {
        WsClient client(address_);
        client.upgrade();
        client.answer("session.list");
        EXPECT_EQ(clients_.open(), 1U);
    }
    // Its place is free once the server has seen its end, which nobody tells us.
    while (clients_.open() > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace knell::net::http
