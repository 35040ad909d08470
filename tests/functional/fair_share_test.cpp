// What waits in the daemon is shared out: reads take turns, nobody reads for who is gone, and calls
// that wait for the store are bounded by their bytes.

#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "functional/harness/owners.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

std::string request(int id, std::string_view method, std::string_view params) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})"
                       "\n",
                       id, method, params);
}

/// The most memory that a process ever had, in bytes.
std::size_t most_memory_of(pid_t pid) {
    const auto status = read_file(fmt::format("/proc/{}/status", pid));
    return std::stoul(status.substr(status.find("VmHWM:") + 6)) << 10U;
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

TEST_F(FairShare, CallsThatWaitForTheStoreAreBoundedByTheirBytes) {
    const auto append =
        request(1, "session.append",
                fmt::format(R"({{"session_id":"s0","generation":1,"messages":[{{"role":"user",)"
                            R"("content":"{}"}}]}})",
                            std::string(900'000, 'c')));
    constexpr std::size_t clients_count = 60;
    constexpr int calls = 8;
    std::vector<Client> clients;
    for (std::size_t i = 0; i < clients_count; ++i) clients.emplace_back(home.socket());
    const auto before = most_memory_of(daemon.pid());
    std::optional<testing::HeldStore> held(home.file("knell.db"));

    std::vector<std::string> unsent(clients_count);
    for (auto& text : unsent) {
        for (int i = 0; i < calls; ++i) text += append;
    }
    for (int idle = 0; idle < 20;) {
        std::size_t sent = 0;
        for (std::size_t i = 0; i < clients_count; ++i) {
            const auto fits = clients[i].send_what_fits(unsent[i]);
            unsent[i].erase(0, fits);
            sent += fits;
        }
        idle = sent == 0 ? idle + 1 : 0;
        EXPECT_TRUE(client.call("node.status").ok());
    }
    EXPECT_TRUE(
        client.send(request(7, "session.heartbeat", R"({"session_id":"s1","generation":1})")));
    const auto most = most_memory_of(daemon.pid());
    held.reset();

    EXPECT_LT(most, before + (256U << 20U)) << "of " << clients_count * calls * append.size();
    EXPECT_TRUE(client.read_answer().ok()) << "a short call was refused";
    std::size_t refused = 0;
    for (std::size_t i = 0; i < clients_count; ++i) {
        for (int call = 0; call < calls; ++call) {
            unsent[i].erase(0, clients[i].send_what_fits(unsent[i]));
            const auto answer = clients[i].read_answer();
            if (answer.kind() == "limit") ++refused;
            EXPECT_TRUE(answer.ok() || answer.kind() == "limit" || answer.kind() == "storage")
                << answer.message();
        }
    }
    EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace knell::functional
