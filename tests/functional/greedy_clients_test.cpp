// Clients that take more than their share: others are served all the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/resources.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

/// Whether all other connections are closed.  The daemon notices one at a time, so it is asked
/// again and again, but not for ever.
bool is_alone(Client& client) {
    for (int i = 0; i < 100'000; ++i) {
        if (number(client.must("node.status"), "connections.open") == 1) return true;
    }
    return false;
}

class GreedyClients : public WithDaemon {
  protected:
    /// `s`, with 4.5 MB of messages.
    void create_long_session() {
        create(R"({"id":"s","source":"cli"})");
        const std::string content(900'000, 'x');
        for (int i = 0; i < 5; ++i) {
            client.must("session.append",
                        fmt::format(R"({{"session_id":"s","generation":1,"messages":[)"
                                    R"({{"role":"user","content":"{}"}}]}})",
                                    content));
        }
    }
};

TEST_F(GreedyClients, WhoNeverReadsIsPausedAndCostsLittle) {
    const auto before = memory_of(daemon.pid());
    Client greedy(home.socket());
    std::string requests;
    for (int i = 0; i < 100'000; ++i) {
        requests += fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"node.status"}})", i) + "\n";
    }

    // Everything that is sent is sent without reading, until nothing goes any more; between two
    // tries somebody else's calls are answered.
    std::string_view left = requests;
    for (int idle = 0; idle < 20 && !left.empty();) {
        const auto sent = greedy.send_what_fits(left);
        left.remove_prefix(sent);
        idle = sent == 0 ? idle + 1 : 0;
        ASSERT_TRUE(client.call("session.create", R"({"source":"cli"})").ok());
    }

    EXPECT_FALSE(left.empty()) << "100,000 calls were taken from a client that reads no answer";
    EXPECT_LT(memory_of(daemon.pid()), before + (64U << 20U));
    EXPECT_TRUE(client.call("node.status").ok());
    EXPECT_TRUE(Client(home.socket()).call("node.status").ok());
}

TEST_F(GreedyClients, WhoReadsLateGetsEveryAnswerInOrder) {
    Client late(home.socket());
    std::string requests;
    for (int i = 0; i < 2'000; ++i) {
        requests += fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"node.status"}})", i) + "\n";
    }
    std::string_view left = requests;
    int answered = 0;
    while (answered < 2'000) {
        left.remove_prefix(late.send_what_fits(left));
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(number(late.read_answer().whole, "id"), answered++);
        }
    }
    EXPECT_TRUE(left.empty());
}

TEST_F(GreedyClients, AFloodOfWritesIsBoundedAndOthersGetTheirTurn) {
    Client flood(home.socket());
    std::string requests;
    for (int i = 0; i < 5'000; ++i) {
        requests +=
            R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"cli"}})"
            "\n";
    }
    flood.send_what_fits(requests);

    EXPECT_TRUE(client.call("session.create", R"({"id":"mine","source":"cli"})").ok());
    EXPECT_TRUE(client.call("session.show", R"({"session_id":"mine"})").ok());
}

TEST_F(GreedyClients, WhoHangsUpInTheMiddleOfEverythingLeavesNothingBehind) {
    for (int i = 0; i < 200; ++i) {
        Client hasty(home.socket());
        hasty.send(R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"cli"}})"
                   "\n"
                   R"({"jsonrpc":"2.0","id":2,"method":"session.li)");
    }

    EXPECT_TRUE(is_alone(client));
}

TEST_F(GreedyClients, ThousandsOfConnectionsAreAllAnswered) {
    const auto room = raise_descriptor_limit();
    const auto most = number(client.must("node.status"), "connections.max");
    const auto wanted =
        std::min({std::size_t{10'000}, room - 200, static_cast<std::size_t>(most) - 10});
    ASSERT_GT(wanted, 100U);
    std::vector<Client> clients;
    clients.reserve(wanted);

    for (std::size_t i = 0; i < wanted; ++i) {
        clients.emplace_back(home.socket());
        ASSERT_TRUE(clients.back().call("session.list", R"({"limit":1})").ok()) << i;
    }
    for (auto& one : clients) {
        one.send(R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"cli"}})"
                 "\n");
    }
    for (auto& one : clients) ASSERT_TRUE(one.read_answer().ok());

    const auto status = client.must("node.status");
    EXPECT_EQ(number(status, "connections.open"), static_cast<std::int64_t>(wanted) + 1);
    EXPECT_EQ(number(status, "sessions.open"), static_cast<std::int64_t>(wanted));
}

TEST_F(GreedyClients, AListOfLargeSessionsComesInPages) {
    const std::string meta(16'000, 'm');
    for (int i = 0; i < 600; ++i) {
        create(fmt::format(R"({{"id":"s{}","source":"cli","title":"t","meta":{{"m":"{}"}}}})", i,
                           meta));
    }

    const auto page = client.must("session.list", R"({"limit":1000})");
    EXPECT_LT(ids_of(page).size(), 600U);
    EXPECT_GT(ids_of(page).size(), 100U);
    EXPECT_FALSE(text(page, "next").empty());

    const auto listed = home.knell({"ls", "--limit", "1000", "--json"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    EXPECT_EQ(ids_of(parse(listed.out)).size(), 600U);
    EXPECT_TRUE(at(parse(listed.out), "next").is_null());
    const auto some = parse(home.knell({"ls", "--limit", "500", "--json"}).out);
    EXPECT_EQ(ids_of(some).size(), 500U);
    EXPECT_FALSE(text(some, "next").empty());
}

TEST_F(GreedyClients, AHundredMegabytesOfMessagesAreShownPieceByPiece) {
    create(R"({"id":"s","source":"cli"})");
    const std::string content(900'000, 'x');
    for (int i = 0; i < 110; ++i) {
        client.must("session.append",
                    fmt::format(R"({{"session_id":"s","generation":1,"messages":[)"
                                R"({{"role":"user","content":"{:03}{}"}}]}})",
                                i, content));
    }
    const auto before = memory_of(daemon.pid());

    const auto newest = client.must("session.show", R"({"session_id":"s","messages":1000})");

    EXPECT_LT(memory_of(daemon.pid()), before + (64U << 20U));
    const auto& messages = array(newest, "messages");
    ASSERT_FALSE(messages.empty());
    EXPECT_LT(messages.size(), 10U);
    EXPECT_TRUE(text(messages.back(), "content").starts_with("109"));
    const auto older =
        client.must("session.show", fmt::format(R"({{"session_id":"s","messages":1,"before":{}}})",
                                                number(newest, "messages_next")));
    EXPECT_TRUE(
        text(older, "messages.0.content").starts_with(fmt::format("{:03}", 109 - messages.size())));
    const auto shown = parse(home.knell({"show", "s", "--messages", "20", "--json"}).out);
    ASSERT_EQ(array(shown, "messages").size(), 20U);
    EXPECT_TRUE(text(shown, "messages.0.content").starts_with("090"));
}

TEST_F(GreedyClients, LinesThatNeverEndAreBoundedOverAllClients) {
    const auto before = memory_of(daemon.pid());
    const std::string half(1'000'000, 'x');
    std::vector<Client> clients;
    for (int i = 0; i < 120; ++i) {
        clients.emplace_back(home.socket());
        clients.back().send(half);
    }
    // All that was sent has been read when this is answered after it.
    EXPECT_TRUE(client.call("node.status").ok());

    std::size_t told = 0;
    for (auto& one : clients) {
        pollfd look{.fd = one.fd(), .events = POLLIN, .revents = 0};
        if (::poll(&look, 1, 0) <= 0) continue;
        EXPECT_EQ(one.read_answer().kind(), "limit");
        EXPECT_TRUE(one.is_closed());
        ++told;
    }
    EXPECT_GT(told, 40U);
    EXPECT_LT(told, 100U);
    EXPECT_LT(memory_of(daemon.pid()), before + (160U << 20U)) << "twice the bound, as it grows";
    EXPECT_TRUE(client.call("session.create", R"({"source":"cli"})").ok());
}

TEST_F(GreedyClients, AnswersThatNobodyReadsAreBoundedOverAllClients) {
    create_long_session();
    const auto before = memory_of(daemon.pid());
    std::vector<Client> clients;
    for (int i = 0; i < 40; ++i) {
        clients.emplace_back(home.socket());
        clients.back().send(
            R"({"jsonrpc":"2.0","id":1,"method":"session.show","params":{"session_id":"s","messages":10}})"
            "\n");
        // Reads are answered in order: when this one is, so is the one before.
        EXPECT_TRUE(client.call("session.list", R"({"limit":1})").ok());
    }

    EXPECT_LT(memory_of(daemon.pid()), before + (200U << 20U));
    std::size_t whole = 0;
    for (auto& one : clients) {
        const auto line = one.read_line();
        whole += line && line->size() > 4'000'000 ? 1U : 0U;
    }
    EXPECT_GT(whole, 8U);
    EXPECT_LT(whole, 20U) << "the rest would have been too much in all";
    EXPECT_TRUE(client.call("session.create", R"({"source":"cli"})").ok());
}

TEST_F(GreedyClients, WhatSomebodyDoesNotReadBoundsWhatIsLookedUpForIt) {
    create_long_session();
    Client greedy(home.socket());
    constexpr int calls = 40;
    for (int i = 0; i < calls; ++i) {
        greedy.send(fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"session.show","params":{{"session_id":"s","messages":10}}}})"
            "\n",
            i));
    }
    const auto queued = [this] { return number(client.must("node.status"), "reads.queued"); };
    // One may be on its way to its connection, and one in it.
    for (int i = 0; i < 100'000 && queued() < calls - 2; ++i) {
    }

    for (int i = 0; i < 2 * calls; ++i) ASSERT_GE(queued(), calls - 2) << "they took turns";

    for (int i = 0; i < calls; ++i) {
        const auto line = greedy.read_line();
        ASSERT_TRUE(line) << "it was closed, though it reads";
        ASSERT_GT(line->size(), 3'000'000U) << line->substr(0, 300);
        EXPECT_THAT(line->substr(0, 60), HasSubstr(fmt::format(R"("id":{},)", i)));
    }
}

TEST(ConnectionLimit, PastItAConnectionIsToldAndClosedAndTheRestGoOn) {
    const TempHome home;
    Daemon daemon(home, {.descriptors_max = 100, .file_bytes_max = {}});
    Client first(home.socket());
    const auto most = number(first.must("node.status"), "connections.max");
    ASSERT_EQ(most, 21);
    std::vector<Client> clients;
    for (int i = 1; i < most; ++i) {
        clients.emplace_back(home.socket());
        ASSERT_TRUE(clients.back().call("node.status").ok()) << i;
    }

    Client one_too_many(home.socket());
    const auto refused = one_too_many.read_answer();

    EXPECT_EQ(refused.code(), -32007);
    EXPECT_EQ(refused.kind(), "limit");
    EXPECT_THAT(refused.message(), HasSubstr("21 connections"));
    EXPECT_TRUE(one_too_many.is_closed());
    EXPECT_TRUE(first.call("session.create", R"({"source":"cli"})").ok());
    const auto cli = home.knell({"status"});
    EXPECT_EQ(cli.status, 1);
    EXPECT_THAT(cli.err, HasSubstr("connections"));

    clients.clear();
    EXPECT_TRUE(is_alone(first));
    EXPECT_TRUE(Client(home.socket()).call("node.status").ok());
}

}  // namespace
}  // namespace knell::functional
