// Clients that take more than their share: others are served all the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

/// Resident memory of a process, in bytes.
std::size_t memory_of(pid_t pid) {
    const auto statm = read_file(fmt::format("/proc/{}/statm", pid));
    const auto pages = std::stoul(statm.substr(statm.find(' ') + 1));
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur);
}

/// Whether all other connections are let go.  The daemon notices one at a time, so it is asked
/// again and again, but not for ever.
bool is_alone(Client& client) {
    for (int i = 0; i < 100'000; ++i) {
        if (number(client.must("node.status"), "connections.open") == 1) return true;
    }
    return false;
}

class GreedyClients : public WithDaemon {};

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

TEST(ConnectionLimit, PastItAConnectionIsToldAndClosedAndTheRestGoOn) {
    const TempHome home;
    Daemon daemon(home, {.descriptors_max = 100, .file_bytes_max = {}});
    Client first(home.socket());
    const auto most = number(first.must("node.status"), "connections.max");
    ASSERT_EQ(most, 50);
    std::vector<Client> clients;
    for (int i = 1; i < most; ++i) {
        clients.emplace_back(home.socket());
        ASSERT_TRUE(clients.back().call("node.status").ok()) << i;
    }

    Client one_too_many(home.socket());
    const auto refused = one_too_many.read_answer();

    EXPECT_EQ(refused.code(), -32007);
    EXPECT_EQ(refused.kind(), "limit");
    EXPECT_THAT(refused.message(), HasSubstr("50 connections"));
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
