// What waits in the daemon is shared out: reads take turns, and nobody reads for who is gone.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

std::string request(int id, std::string_view method, std::string_view params) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})"
                       "\n",
                       id, method, params);
}

class FairShare : public WithOwners {
  protected:
    static constexpr int reads = 250;  // fewer than a connection may have in flight

    void SetUp() override {
        for (int i = 0; i < 500; ++i) {
            create(fmt::format(R"({{"id":"s{}","source":"cli","title":"{}"}})", i,
                               std::string(900, 't')));
        }
    }
    /// Each takes longer than to take in the next call; their answers fit into what a client may
    /// leave unread.
    static std::string long_reads() {
        std::string requests;
        for (int i = 0; i < reads; ++i) {
            requests += request(i, "session.list", R"({"limit":20})");
        }
        return requests;
    }
};

TEST_F(FairShare, TheReadsOfOneClientDoNotHoldUpAnother) {
    Client busy(home.socket());
    Client other(home.socket());
    ASSERT_TRUE(busy.call("node.status").ok());
    ASSERT_TRUE(other.call("node.status").ok());
    daemon.freeze();  // so that all of them are there at once, in this order
    ASSERT_TRUE(busy.send(long_reads()));
    ASSERT_TRUE(other.send(request(1, "node.status", "{}")));
    daemon.signal(SIGCONT);

    EXPECT_GT(number(other.read_answer().result(), "reads.queued"), 0) << "it was the last in turn";
    for (int i = 0; i < reads; ++i) EXPECT_EQ(number(busy.read_answer().whole, "id"), i);
}

TEST_F(FairShare, WhatNobodyWaitsForIsNotRead) {
    constexpr int gone = 40;
    {
        std::vector<Client> clients;
        for (int i = 0; i < gone; ++i) clients.emplace_back(home.socket());
        for (auto& one : clients) ASSERT_TRUE(one.call("node.status").ok());
        daemon.freeze();
        for (auto& one : clients) ASSERT_TRUE(one.send(long_reads()));
    }
    daemon.signal(SIGCONT);

    until([&] { return number(client.must("node.status"), "connections.open") == 1; },
          "the daemon to notice that they are gone");

    // Each was noticed when it could not be sent its first answer.
    EXPECT_EQ(number(client.must("node.status"), "reads.queued"), 0);
}

}  // namespace
}  // namespace knell::functional
