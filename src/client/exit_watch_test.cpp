#include "client/exit_watch.hpp"

#include <gtest/gtest.h>

#include "client/process_pages.hpp"
#include "client/process_words.hpp"
#include "testing/fake_daemon.hpp"
#include "testing/temp_folder.hpp"

namespace knell::client {
namespace {

using namespace std::chrono_literals;
using testing::FakeDaemon;

class ExitWatching : public ::testing::Test {
  protected:
    /// A daemon whose answers depend on the call and on how often process.show was called before.
    void serve(std::function<std::string(const std::string& call, int shown)> answer) {
        daemon_.emplace(paths_,
                        FakeDaemon::Manners{.answer = [answer = std::move(answer),
                                                       shown = 0](const std::string& call) mutable {
                            const auto said = answer(call, shown);
                            if (call.contains("process.show")) ++shown;
                            return said;
                        }});
        connection_ = Connection::open(paths_.socket).value();
    }
    Connection& connection() { return *connection_; }

  private:
    testing::TempFolder folder_;
    const Paths paths_ = testing::paths_in(folder_.path());
    std::optional<FakeDaemon> daemon_;
    std::optional<Connection> connection_;
};

constexpr auto running = R"("result":{"process_id":"p","state":"running","stopping":true})";
constexpr auto exited = R"("result":{"process_id":"p","state":"exited","stopping":false})";
/// An answer, and behind it an event that nobody asked for at that moment.
constexpr auto running_and_told =
    R"("result":{"process_id":"p","state":"running","stopping":true}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"event","params":{"type":"process:exit"})";

TEST_F(ExitWatching, LooksAgainWhenItIsToldOfAnExit) {
    serve([](const std::string& call, int shown) -> std::string {
        if (call.contains("events.subscribe")) return R"("result":{"after":1})";
        return shown < 2 ? running_and_told : exited;
    });
    auto watch = ExitWatch::begin(connection());
    ASSERT_TRUE(watch);
    const auto row = watch->wait("p", Deadline{30s});
    ASSERT_TRUE(row);
    EXPECT_FALSE(is_running(*row));
}

TEST_F(ExitWatching, LooksAgainUntilWhatItStartedIsGoneToo) {
    serve([](const std::string& call, int shown) -> std::string {
        if (call.contains("events.subscribe")) return R"("result":{"after":1})";
        // Nobody tells of these.
        return shown < 2 ? R"("result":{"process_id":"p","state":"exited","stopping":true})"
                         : exited;
    });
    auto watch = ExitWatch::begin(connection());
    ASSERT_TRUE(watch);
    const auto row = watch->wait("p", Deadline{30s});
    ASSERT_TRUE(row);
    EXPECT_FALSE(is_being_stopped(*row));
}

TEST_F(ExitWatching, DoesNotWaitForOneThatIsLeft) {
    serve([](const std::string& call, int shown) -> std::string {
        if (call.contains("events.subscribe")) return R"("result":{"after":1})";
        return shown < 1 ? running
                         : R"("result":{"process_id":"p","state":"running","stopping":false,)"
                           R"("stop_failed":"it owns an open session"})";
    });
    auto watch = ExitWatch::begin(connection());
    ASSERT_TRUE(watch);
    const auto row = watch->wait("p", Deadline{30s});
    ASSERT_TRUE(row);
    EXPECT_TRUE(is_running(*row));
    EXPECT_EQ(wire::text_at(*row, "stop_failed"), "it owns an open session");
}

TEST_F(ExitWatching, GivesWhatItIsWhenTheTimeIsUp) {
    serve([](const std::string& call, int) -> std::string {
        return call.contains("events.subscribe") ? R"("result":{"after":1})" : running;
    });
    auto watch = ExitWatch::begin(connection());
    ASSERT_TRUE(watch);
    const auto row = watch->wait("p", Deadline{0ms});
    ASSERT_TRUE(row);
    EXPECT_TRUE(is_running(*row));
}

TEST_F(ExitWatching, TellsWhatTheDaemonRefuses) {
    serve([](const std::string& call, int) -> std::string {
        if (call.contains("events.subscribe")) return R"("result":{"after":1})";
        return R"("error":{"code":-32001,"message":"no such process"})";
    });
    auto watch = ExitWatch::begin(connection());
    ASSERT_TRUE(watch);
    EXPECT_EQ(watch->wait("p", Deadline{30s}).error().code, ErrorCode::not_found);
}

TEST_F(ExitWatching, ListsAllPagesUpToTheLimit) {
    const auto answer = [](const std::string& call, int) -> std::string {
        if (call.contains(R"("cursor":"2")")) {
            return R"("result":{"processes":[{"process_id":"c","state":"running","task_id":"t"}]})";
        }
        return R"("result":{"processes":[{"process_id":"a","state":"running"},)"
               R"({"process_id":"b","state":"exited","task_id":"t"}],"next":"2"})";
    };
    const auto ids = [&](const Wanted& wanted, bool is_more) {
        const auto listed = list_processes(connection(), {}, wanted).value();
        EXPECT_EQ(listed.is_more, is_more);
        std::string all;
        for (const auto& row : listed.processes) all += row.at("process_id").as_string();
        return all;
    };
    serve(answer);
    EXPECT_EQ(ids({}, false), "abc");
    EXPECT_EQ(ids({.limit = 2, .task_id = {}}, true), "ab");
    EXPECT_EQ(ids({.limit = 9, .task_id = {}, .is_running = true}, false), "ac");
    EXPECT_EQ(ids({.limit = 9, .task_id = "t"}, false), "bc");
}

TEST_F(ExitWatching, ACursorThatDoesNotMoveIsTheEnd) {
    serve([](const std::string&, int) -> std::string {
        return R"("result":{"processes":[{"process_id":"a"}],"next":"1"})";
    });
    EXPECT_EQ(list_processes(connection(), {}, {}).value().processes.size(), 2U);
}

}  // namespace
}  // namespace knell::client
