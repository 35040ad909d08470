// Ten thousand keys under mixed policies: only what is due is touched.

#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

constexpr int keys = 10'000;

constexpr std::array platforms{"telegram", "slack", "irc", "matrix"};
constexpr std::array chat_types{"dm", "group", "thread"};
constexpr int exempt_every = 40;

std::string platform_of(int i) {
    return platforms.at(static_cast<std::size_t>(i) % platforms.size());
}
std::string chat_type_of(int i) {
    return chat_types.at(static_cast<std::size_t>(i) / platforms.size() % chat_types.size());
}
std::string key_of(int i) {
    return fmt::format("key-{}", i);
}

class ResetCrowd : public WithRoutes {
  protected:
    /// By platform; but no thread, and not those that are named.
    std::string policies(int slack_minutes) {
        const auto utc = std::stoi(text(client.must("node.status"), "started_at").substr(11, 2));
        auto yaml = fmt::format(
            "session_reset:\n  overrides:\n"
            "    - {{platform: telegram, mode: idle, idle_minutes: 60}}\n"
            "    - {{platform: slack, mode: idle, idle_minutes: {}}}\n"
            "    - {{platform: irc, mode: both, idle_minutes: 525600, at: {}, time_zone: UTC}}\n"
            "    - {{chat_type: thread, mode: none}}\n",
            slack_minutes, (utc + 12) % 24);
        for (int i = 0; i < keys; i += exempt_every) {
            yaml += fmt::format("    - {{key: {}, mode: none}}\n", key_of(i));
        }
        return yaml;
    }
    void open_all() {
        constexpr int at_once = 100;
        for (int first = 0; first < keys; first += at_once) {
            std::string calls;
            for (int i = first; i < first + at_once; ++i) {
                calls += fmt::format(
                    R"({{"jsonrpc":"2.0","id":{},"method":"session.route","params":{}}})"
                    "\n",
                    i + 1,
                    route_params(fmt::format(R"("platform":"{}","chat_type":"{}")", platform_of(i),
                                             chat_type_of(i)),
                                 key_of(i)));
            }
            ASSERT_TRUE(client.send(calls));
            for (int i = 0; i < at_once; ++i) ASSERT_TRUE(client.read_answer().ok());
        }
    }
    /// What is open, by key, with what a reset would change of it.
    std::map<std::string, std::string> open_ones() {
        std::map<std::string, std::string> found;
        std::string cursor;
        do {
            const auto page = client.must(
                "session.list",
                fmt::format(R"({{"ended":false,"all":true,"limit":1000{}}})",
                            cursor.empty() ? "" : fmt::format(R"(,"cursor":"{}")", cursor)));
            for (const auto& one : array(page, "sessions")) {
                found.emplace(
                    text(one, "key"),
                    fmt::format("{} {} {} {} {}", text(one, "id"), number(one, "generation"),
                                text(one, "status"), text(one, "last_activity_at"),
                                text(one, "last_interaction_at")));
            }
            cursor = text(page, "next");
        } while (!cursor.empty());
        return found;
    }
    /// Waits until so many sessions have ended, and gives the keys of those.
    std::set<std::string> ended_keys(std::size_t count) {
        until(
            [&] {
                return number(client.must("node.status"), "sessions.open") <=
                       static_cast<std::int64_t>(keys - count);
            },
            "what is due to be reset");
        std::set<std::string> found;
        for (const auto& end : told("session:end")) {
            EXPECT_TRUE(found.insert(text(end, "session_key")).second) << "it ended twice";
        }
        return found;
    }
    /// Of those that are open both times nothing has changed.
    static void expect_untouched(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& after) {
        for (const auto& [name, shown] : after) {
            ASSERT_TRUE(before.contains(name));
            ASSERT_EQ(shown, before.at(name));
        }
    }
};

TEST_F(ResetCrowd, OnlyWhatIsDueIsTouched) {
    restart_with(policies(/*slack_minutes=*/10'000));
    open_all();
    EXPECT_EQ(daemon.terminate(), 0);
    // In half of them nobody has said anything for three hours.
    std::set<std::string> silent;
    for (int i = 0; i < keys; ++i) {
        if (i / 8 % 2 == 0) silent.insert(key_of(i));
    }
    edit(
        "UPDATE sessions SET last_interaction_at = "
        "coalesce(last_interaction_at, last_activity_at) - 10800000 "
        "WHERE cast(substr(key, 5) AS INTEGER) / 8 % 2 = 0");
    std::set<std::string> due;
    std::set<std::string> due_later;
    for (int i = 0; i < keys; ++i) {
        if (i % exempt_every == 0 || chat_type_of(i) == "thread") continue;
        if (!silent.contains(key_of(i))) continue;
        if (platform_of(i) == "telegram") due.insert(key_of(i));
        if (platform_of(i) == "slack") due_later.insert(key_of(i));
    }
    ASSERT_GT(due.size(), 500U);
    ASSERT_GT(due_later.size(), 500U);
    daemon.start();
    reconnect();

    EXPECT_EQ(ended_keys(due.size()), due);
    const auto after_first = open_ones();
    EXPECT_EQ(after_first.size(), keys - due.size());

    // The others follow when their policy changes, more of them than one step takes.
    configure(policies(/*slack_minutes=*/60));

    due_later.insert(due.begin(), due.end());
    EXPECT_EQ(ended_keys(due_later.size()), due_later);
    const auto after_second = open_ones();
    EXPECT_EQ(after_second.size(), keys - due_later.size());
    expect_untouched(after_first, after_second);
    EXPECT_EQ(told("session:reset_deferred").size(), 0U);
    for (const auto& end : told("session:end")) ASSERT_EQ(text(end, "reason"), "idle_expiry");

    // And nothing is due any more for whoever speaks now.
    const auto seq = newest_seq(client);
    daemon.restart();
    reconnect();
    EXPECT_EQ(open_ones().size(), after_second.size());
    for (const auto& event : all_events(client)) {
        if (number(event, "seq") <= seq) continue;
        EXPECT_EQ(text(event, "session_id"), "") << text(event, "type");
    }
}

}  // namespace
}  // namespace knell::functional
