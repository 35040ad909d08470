// As many background processes as a node has on record at most, over the daemon's death and their
// own.

#include <csignal>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "functional/harness/background.hpp"

namespace knell::functional {
namespace {

constexpr auto of_each = limits::processes_per_session_default;
constexpr auto sessions = limits::processes_default / of_each;

class BackgroundCrowd : public WithBackground {
  protected:
    void TearDown() override {
        for (const auto& row : running()) client.call("process.stop", about(row));
        WithBackground::TearDown();
    }

    static std::string about(const Json& row) {
        return fmt::format(R"({{"process_id":"{}"}})", id_of(row));
    }
    static std::string start_call(std::size_t number) {
        return fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"process.start","params":{{"session_id":"s{}","argv":["sleep","1000"]}}}})"
            "\n",
            number);
    }
    /// All calls for a session first, then all answers.
    void start_all_of(std::size_t number) {
        client.must(
            "session.create",
            fmt::format(R"({{"id":"s{}","source":"cli","owner":{{"lease_ttl_s":3600}}}})", number));
        std::string calls;
        for (std::size_t i = 0; i < of_each; ++i) calls += start_call(number);
        ASSERT_TRUE(client.send(calls));
        for (std::size_t i = 0; i < of_each; ++i) ASSERT_TRUE(client.read_answer().ok());
    }
    std::vector<Json> running() {
        std::vector<Json> found;
        std::string cursor;
        do {
            const auto page = client.must(
                "process.list", cursor.empty()
                                    ? R"({"limit":1000})"
                                    : fmt::format(R"({{"limit":1000,"cursor":"{}"}})", cursor));
            for (const auto& row : at(page, "processes").as_array()) {
                if (text(row, "state") == "running") found.push_back(row);
            }
            cursor = text(page, "next");
        } while (!cursor.empty());
        return found;
    }
};

TEST_F(BackgroundCrowd, IsOnRecordWholeUntilEachOfThemHasEnded) {
    for (std::size_t number = 0; number < sessions; ++number) start_all_of(number);
    const auto refused = client.call("process.start", start_params({"sleep", "1000"}));
    ASSERT_FALSE(refused.ok()) << "one more than the node takes";
    EXPECT_THAT(refused.message(), testing::HasSubstr("4096"));
    EXPECT_EQ(running().size(), limits::processes_default);

    daemon.kill9();
    daemon.start();
    reconnect();
    const auto adopted = running();
    std::set<pid_t> pids;
    for (const auto& row : adopted) pids.insert(pid_of(row));
    ASSERT_EQ(pids.size(), limits::processes_default);
    for (const auto pid : pids) ::kill(pid, SIGKILL);

    until([&] { return running().empty(); }, "the exit of each of them");
    EXPECT_EQ(count_events("process:start"), limits::processes_default);
    EXPECT_EQ(count_events("process:exit"), limits::processes_default);
}

}  // namespace
}  // namespace knell::functional
