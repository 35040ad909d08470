#include "space/gateway_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Now at(std::chrono::seconds time) {
    return {WallTime{time}, SteadyTime{time}, SteadyTime{time}};
}

GatewaySpec spec(const std::string& name) {
    return {.name = name, .url = "https://" + name, .token_file = "/t"};
}

GatewayAnswer answer(const std::string& etag, std::size_t sessions) {
    return {.etag = etag, .sessions = std::vector<JsonObject>(sessions)};
}

class Board : public ::testing::Test {
  protected:
    Board() { board.set_gateways({spec("mac"), spec("pi")}); }

    /// Names of those that are due; their tickets are kept.
    std::vector<std::string> due(std::chrono::seconds now) {
        std::vector<std::string> names;
        for (const auto& request : board.take_due(at(now).steady)) {
            names.push_back(request.spec.name + request.etag);
            tickets[request.spec.name] = request.ticket;
        }
        return names;
    }
    GatewayReport report(const std::string& name) {
        for (const auto& one : board.reports()) {
            if (one.name == name) return one;
        }
        return {};
    }

    GatewayBoard board;
    std::map<std::string, std::uint64_t> tickets;
};

TEST_F(Board, AsksEachAndAgainAfterAPause) {
    EXPECT_THAT(due(0s), ElementsAre("mac", "pi"));
    EXPECT_THAT(due(1s), IsEmpty()) << "both are under way";
    EXPECT_EQ(board.next_due(), std::nullopt);

    board.heard(tickets["mac"], answer("\"1\"", 3), at(1s));

    EXPECT_EQ(board.next_due(), at(1s + limits::gateway_pause).steady);
    EXPECT_THAT(due(2s), IsEmpty());
    EXPECT_THAT(due(3s), ElementsAre("mac\"1\"")) << "with the tag of what is known";
    EXPECT_TRUE(report("mac").is_reachable);
    EXPECT_EQ(report("mac").sessions->size(), 3U);
    EXPECT_EQ(report("mac").as_of, at(1s).wall);
    EXPECT_FALSE(report("pi").is_reachable);
    EXPECT_FALSE(report("pi").as_of);
}

TEST_F(Board, OfOneThatFallsSilentWhatItToldStays) {
    due(0s);
    board.heard(tickets["mac"], answer("\"1\"", 3), at(0s));
    due(2s);
    board.failed(tickets["mac"], "timed out", at(3s).steady);

    EXPECT_FALSE(report("mac").is_reachable);
    EXPECT_EQ(report("mac").error, "timed out");
    EXPECT_EQ(report("mac").sessions->size(), 3U);
    EXPECT_EQ(report("mac").as_of, at(0s).wall);

    due(30s);
    board.unchanged(tickets["mac"], at(30s));
    EXPECT_TRUE(report("mac").is_reachable);
    EXPECT_EQ(report("mac").error, "");
    EXPECT_EQ(report("mac").as_of, at(30s).wall);
    EXPECT_EQ(report("mac").sessions->size(), 3U);
}

TEST_F(Board, WhoDoesNotAnswerIsAskedLessAndLess) {
    auto now = 0s;
    std::vector<std::int64_t> pauses;
    for (int i = 0; i < 6; ++i) {
        due(now);
        board.failed(tickets["mac"], "timed out", at(now).steady);
        board.failed(tickets["pi"], "timed out", at(now).steady);
        const auto next =
            std::chrono::duration_cast<std::chrono::seconds>(board.next_due()->time_since_epoch());
        pauses.push_back((next - now).count());
        now = next;
    }
    EXPECT_THAT(pauses, ElementsAre(4, 8, 16, 30, 30, 30));
    due(now);
    board.heard(tickets["mac"], answer("", 0), at(now));
    EXPECT_EQ(board.next_due(), at(now + limits::gateway_pause).steady);
}

TEST_F(Board, TheVersionChangesWithAnythingButTheTime) {
    due(0s);
    const auto never = report("mac").version;
    board.heard(tickets["mac"], answer("\"1\"", 1), at(0s));
    const auto heard = report("mac").version;
    EXPECT_NE(heard, never);
    due(2s);
    board.unchanged(tickets["mac"], at(2s));
    EXPECT_EQ(report("mac").version, heard);
    due(4s);
    board.failed(tickets["mac"], "refused", at(4s).steady);
    const auto silent = report("mac").version;
    EXPECT_NE(silent, heard);
    due(30s);
    board.failed(tickets["mac"], "refused", at(30s).steady);
    EXPECT_EQ(report("mac").version, silent);
    due(60s);
    board.unchanged(tickets["mac"], at(60s));
    EXPECT_NE(report("mac").version, silent);
}

TEST_F(Board, OnlyWhatTheConfigLeavesAsItWasKeepsItsPicture) {
    due(0s);
    board.heard(tickets["mac"], answer("\"1\"", 1), at(0s));
    board.heard(tickets["pi"], answer("\"2\"", 1), at(0s));
    due(2s);
    auto moved = spec("pi");
    moved.url = "https://elsewhere";

    board.set_gateways({moved, spec("mac"), spec("new")});

    EXPECT_TRUE(report("mac").is_reachable);
    EXPECT_FALSE(report("pi").is_reachable);
    EXPECT_EQ(report("pi").sessions, nullptr);
    board.heard(tickets["pi"], answer("\"3\"", 9), at(3s));
    EXPECT_EQ(report("pi").sessions, nullptr) << "that came from where it was before";
    EXPECT_THAT(due(3s), ElementsAre("pi", "new"));
    board.set_gateways({});
    EXPECT_THAT(board.reports(), IsEmpty());
    EXPECT_EQ(board.next_due(), std::nullopt);
}

}  // namespace
}  // namespace knell
