// Many processes watched at once, and all of them killed at once.

#include <csignal>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

constexpr int crowd = 1000;

class Crowd : public WithOwners {
  protected:
    Crowd() {
        for (int i = 0; i < crowd; ++i) owners.push_back(idle_process());
        // All calls first, then all answers: the daemon commits them in groups.
        std::string calls;
        for (int i = 0; i < crowd; ++i) {
            calls += fmt::format(
                R"({{"jsonrpc":"2.0","id":{},"method":"session.create","params":{{"id":"s{}","source":"cli","owner":{{"pid":{}}}}}}})"
                "\n",
                i + 1, i, owners[static_cast<std::size_t>(i)].pid());
            if (i % 200 != 199) continue;
            EXPECT_TRUE(client.send(calls));
            for (int answer = 0; answer < 200; ++answer) EXPECT_TRUE(client.read_answer().ok());
            calls.clear();
        }
    }
    std::map<std::string, int> ends_by_detail() {
        std::map<std::string, int> ends;
        for (const auto& event : all_events(client)) {
            if (text(event, "type") == "session:end") ++ends[text(event, "detail")];
        }
        return ends;
    }

    std::vector<Process> owners;
};

TEST_F(Crowd, IsWatchedOneByOneAndNoneIsMissed) {
    until([&] { return number(client.must("node.status"), "watched_processes") == crowd; },
          "all to be watched");

    for (const auto& owner : owners) owner.signal(SIGKILL);

    until([&] { return ends_by_detail()["signal 9 (SIGKILL)"] == crowd; }, "all ends");
    EXPECT_EQ(ends_by_detail().size(), 1U);
    EXPECT_EQ(number(client.must("node.status"), "sessions.open"), 0);
}

TEST_F(Crowd, IsAdoptedAndItsDeadAreToldApart) {
    daemon.kill9();
    for (std::size_t i = 0; i < owners.size(); i += 4) {
        owners[i].signal(SIGKILL);
        owners[i].wait();
    }
    daemon.start();
    reconnect();

    EXPECT_EQ(count_events("session:end"), crowd / 4);
    for (const auto& owner : owners) owner.signal(SIGTERM);
    until([&] { return ends_by_detail()["signal 15 (SIGTERM)"] == crowd - crowd / 4; }, "the rest");
    EXPECT_EQ(count_events("session:end"), crowd);
}

}  // namespace
}  // namespace knell::functional
