// Clients that come and go by the thousand, as browsers do that are loaded anew and networks that
// fail: what is left of them.

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/http.hpp"
#include "functional/harness/resources.hpp"

namespace knell::functional {
namespace {

/// At once; the daemon commits what comes together in one transaction.
constexpr int crowd = 50;

class ReconnectStorm : public ::testing::Test {
  protected:
    /// Asks again and again, listening to the daemon in between, until it is so.
    template <typename Condition>
    void until(Condition&& condition, const char* what) {
        for (int tries = 0; tries < 3000; ++tries) {
            if (condition()) return;
            http->listen();
        }
        throw std::runtime_error(std::string("waited in vain for ") + what);
    }
    std::int64_t status(std::string_view path) { return number(client->must("node.status"), path); }
    void start(std::string_view config = "") {
        write_file(home.file("config.yaml"), config);
        http.emplace(home);
        client.emplace(home.socket());
    }
    void wait_until_alone() {
        until([&] { return status("connections.open") == 1; }, "closed connections");
    }

    TempHome home;
    std::optional<HttpDaemon> http;
    std::optional<Client> client;
};

std::string session(int round, int place) {
    return fmt::format(R"({{"session_id":"s-{}-{}"}})", round, place);
}

class Reconnects : public ReconnectStorm {
  protected:
    void SetUp() override {
        start("http: {detach_window: 1s}\n");
        if (!is_sanitized) fill_page_cache();
    }
    /// SQLite keeps pages of the store in memory, up to a bound: what is beyond that is not its.
    void fill_page_cache() {
        client->must("session.create", R"({"id":"long","source":"cli"})");
        const std::string content(900'000, 'x');
        for (int i = 0; i < 80; ++i) {
            client->must("session.append",
                         fmt::format(R"({{"session_id":"long","generation":1,"messages":[)"
                                     R"({{"role":"user","content":"{}"}}]}})",
                                     content));
        }
        client->must("session.close", R"({"session_id":"long"})");
    }

    /// Each makes a session and attaches to it; then half of them come to somebody else's of the
    /// round before, half open one again that has ended.  One half leaves politely, the other is
    /// cut off in the middle of a call.
    void come_and_go(int round) {
        std::vector<WebSocketClient> clients;
        clients.reserve(crowd);
        for (int i = 0; i < crowd; ++i) clients.push_back(http->websocket());
        for (int i = 0; i < crowd; ++i) {
            auto& one = clients.at(static_cast<std::size_t>(i));
            ASSERT_TRUE(one.is_open());
            one.send_call("session.create",
                          fmt::format(R"({{"id":"s-{}-{}","source":"web"}})", round, i));
            one.send_call("session.attach", session(round, i));
            if (i % 4 < 2) one.send_call("session.close", session(round, i));
            const auto named = i % 4 < 2 ? session(round, i) : session(round - 1, i);
            one.send_call(i % 4 < 2 ? "session.resume" : "session.attach", named);
        }
        for (int i = 0; i < crowd; ++i) {
            auto& one = clients.at(static_cast<std::size_t>(i));
            ASSERT_TRUE(one.answer_to(1).ok());
            EXPECT_EQ(number(one.answer_to(2).whole, "result.attached"), 1);
            if (i % 4 < 2) {
                ASSERT_TRUE(one.answer_to(3).ok());
                EXPECT_EQ(number(one.answer_to(4).whole, "result.generation"), 2);
            } else {
                // It is there, has ended meanwhile, or this is the first round.
                const auto back = one.answer_to(3);
                EXPECT_TRUE(back.ok() || back.kind() == "ended" || back.kind() == "not_found")
                    << back.message();
            }
            if (i % 2 == 0) {
                one.close();
            } else {
                one.send_call("session.attach", session(round, i));
                one.cut();
            }
        }
    }
    void come_and_go_times(int count) {
        for (int i = 0; i < count / crowd; ++i) {
            ASSERT_NO_FATAL_FAILURE(come_and_go(round_++));
            http->listen();  // nobody else reads it
        }
    }
    /// Everybody is gone, and what they made has ended by itself.
    Resources at_rest() {
        wait_until_alone();
        until([&] { return status("sessions.open") == 0; }, "the end of sessions nobody wants");
        return resources_of(http->pid());
    }

    int round_ = 1;
};

TEST_F(Reconnects, TenThousandLeaveNothingBehind) {
    come_and_go_times(1'000);
    const auto before = at_rest();

    come_and_go_times(is_sanitized ? 1'000 : 10'000);

    const auto after = at_rest();
    EXPECT_EQ(after.threads, before.threads);
    EXPECT_EQ(after.descriptors, before.descriptors);
    // SQLite's page cache still grows, by one to three in a hundred of all; 400 bytes that each
    // left behind would show.
    if (!is_sanitized) {
        EXPECT_LT(after.memory, before.memory + (4U << 20U));
    }
    const auto ended = client->must("node.status");
    EXPECT_EQ(number(ended, "leaks.ended_without_reason"), 0);
    EXPECT_EQ(number(ended, "ended.day.by_reason.detached_expiry"), round_ * crowd - crowd);
    EXPECT_EQ(array(client->must("session.active_list"), "sessions").size(), 0U);
}

class AttachStorm : public ReconnectStorm {
  protected:
    static constexpr int clients_max = 2'000;

    void SetUp() override {
        const auto room = raise_descriptor_limit();
        if (room < clients_max + 200) {
            GTEST_SKIP() << "needs " << clients_max + 200 << " descriptors, has " << room;
        }
        start();
        client->must("session.create", R"({"id":"s","source":"web","owner":{"kind":"hosted"}})");
    }
    std::int64_t attached() {
        return number(client->must("session.show", R"({"session_id":"s"})"), "attached");
    }
};

TEST_F(AttachStorm, TwoThousandLookAtOneSession) {
    std::vector<WebSocketClient> clients;
    clients.reserve(clients_max);
    for (int i = 0; i < clients_max; ++i) clients.push_back(http->websocket());
    for (auto& one : clients) {
        ASSERT_TRUE(one.is_open());
        one.send_call("session.attach", R"({"session_id":"s"})");
    }
    std::set<std::int64_t> counts;
    for (auto& one : clients) counts.insert(number(one.answer_to(1).whole, "result.attached"));
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(clients_max)) << "two were counted as one";
    EXPECT_EQ(*counts.rbegin(), clients_max);
    EXPECT_EQ(attached(), clients_max);

    client->must("turn.start", R"({"session_id":"s","generation":1})");

    for (auto& one : clients) {
        auto event = one.next_event();
        // Who was there before the first attach was told hears of that, too.
        if (event && text(*event, "type") == "session:attach") event = one.next_event();
        ASSERT_TRUE(event);
        ASSERT_EQ(text(*event, "type"), "agent:start");
    }
    for (auto& one : clients) one.cut();
    wait_until_alone();
    until([&] { return attached() == 0; }, "the last client's end");
    EXPECT_EQ(text(client->must("session.show", R"({"session_id":"s"})"), "status"), "running")
        << "the turn goes on";
}

}  // namespace
}  // namespace knell::functional
