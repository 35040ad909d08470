// A thousand sessions started and ended by every means, in random order, with the daemon killed in
// between; two hundred others are left alone.

#include <csignal>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/seed.hpp"

namespace knell::functional {
namespace {

constexpr int ending = 1000;
constexpr int staying = 200;
constexpr int daemon_kills = 4;

/// The ways to end, and what is to be on record then.
enum class Means : std::uint8_t { kill, term, exit, close, takeover, lease, while_down };

class Thousand : public WithOwners {
  protected:
    Thousand() : seed_(choose_seed()), random_(seed_) {}

    struct Story {
        std::string id;
        Means means = Means::kill;
        int exit_code = 0;
        std::optional<Process> process;
        std::optional<Puppet> puppet;
        bool is_done = false;
    };

    Story begin(int number) {
        Story story;
        story.id = fmt::format("s{}", number);
        story.means = any_means();
        switch (story.means) {
            case Means::exit:
                story.exit_code = static_cast<int>(random_() % 256);
                story.puppet.emplace();
                own(story.id, story.puppet->pid());
                break;
            case Means::lease:
                client.must(
                    "session.create",
                    fmt::format(R"({{"id":"{}","source":"cli","owner":{{"lease_ttl_s":5}}}})",
                                story.id));
                break;
            default:
                story.process.emplace(idle_process());
                own(story.id, story.process->pid());
        }
        return story;
    }

    void end(Story& story) {
        switch (story.means) {
            case Means::kill:
                story.process->signal(SIGKILL);
                break;
            case Means::term:
                story.process->signal(SIGTERM);
                break;
            case Means::exit:
                story.puppet->tell(fmt::format("exit {}", story.exit_code));
                break;
            case Means::close:
                client.must("session.close",
                            fmt::format(R"({{"session_id":"{}","generation":1}})", story.id));
                break;
            case Means::takeover:
                client.must(
                    "session.resume",
                    fmt::format(R"({{"session_id":"{}","takeover":true,"owner":{{"pid":{}}}}})",
                                story.id, ::getpid()));
                break;
            case Means::lease:
            case Means::while_down:
                break;  // by itself; by `kill_daemon`
        }
        story.is_done = true;
    }

    /// The daemon dies, then some owners, and the daemon comes back.
    void kill_daemon(std::vector<Story>& stories) {
        daemon.kill9();
        for (auto& story : stories) {
            if (story.means != Means::while_down || story.is_done || random_() % 3 != 0) continue;
            story.process->signal(SIGKILL);
            story.process->wait();
            story.is_done = true;
        }
        daemon.start();
        reconnect();
    }

    /// "reason: detail", as it must be.
    static std::string expected(const Story& story) {
        switch (story.means) {
            case Means::kill:
                return "signaled: signal 9 (SIGKILL)";
            case Means::term:
                return "signaled: signal 15 (SIGTERM)";
            case Means::exit:
                return fmt::format("exited: exit {}", story.exit_code);
            case Means::close:
                return "completed: ";
            case Means::takeover:
                return "superseded: takeover";
            case Means::lease:
                return "reaped: lease of 5 s not renewed";
            case Means::while_down:
                return "owner_lost: ";
        }
        return {};
    }
    /// The first end of each session, as it is on record.
    std::map<std::string, std::vector<std::string>> told_ends() {
        std::map<std::string, std::vector<std::string>> ends;
        for (const auto& event : all_events(client)) {
            if (text(event, "type") != "session:end") continue;
            expect_ordered_bounds(event);
            ends[text(event, "session_id")].push_back(
                fmt::format("{}: {}", text(event, "reason"), text(event, "detail")));
        }
        return ends;
    }

    Means any_means() { return static_cast<Means>(random_() % 7); }

    const std::uint64_t seed_;
    std::mt19937_64 random_;
};

TEST_F(Thousand, EndsWithTheRightReasonsAndNoneAmongTheTwoHundredLeftAlive) {
    SCOPED_TRACE(fmt::format("repeat with KNELL_TEST_SEED={}", seed_));
    // The living: processes, some with many sessions, some stopped, and leases that hold.
    std::vector<Process> alive;
    for (int i = 0; i < staying; ++i) {
        if (i % 10 == 0) alive.push_back(idle_process());
        if (i % 5 == 4) {
            client.must(
                "session.create",
                fmt::format(R"({{"id":"alive{}","source":"cli","owner":{{"lease_ttl_s":3600}}}})",
                            i));
        } else {
            own(fmt::format("alive{}", i), alive.back().pid());
        }
    }
    for (std::size_t i = 0; i < alive.size(); i += 3) alive[i].freeze();

    std::vector<Story> stories;
    std::vector<std::size_t> running;
    int kills = 0;
    while (stories.size() < ending || !running.empty()) {
        if (stories.size() < ending && (running.size() < 40 || random_() % 2 == 0)) {
            running.push_back(stories.size());
            stories.push_back(begin(static_cast<int>(stories.size())));
        } else {
            const auto which = random_() % running.size();
            auto& story = stories[running[which]];
            if (story.means != Means::while_down) end(story);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
        }
        if (stories.size() > (static_cast<std::size_t>(kills) + 1) * ending / (daemon_kills + 1)) {
            // Owners that die just before the daemon does may be found lost: let it see them first.
            let_observers_speak();
            kill_daemon(stories);
            ++kills;
        }
    }
    let_observers_speak();
    daemon.kill9();
    for (auto& story : stories) {
        if (story.is_done) continue;
        story.process->signal(SIGKILL);
        story.process->wait();
    }
    daemon.start();
    reconnect();

    std::map<std::string, std::vector<std::string>> ends;
    until(
        [&] {
            ends = told_ends();
            std::size_t done = 0;
            for (const auto& story : stories) done += ends.contains(story.id) ? 1U : 0U;
            return done == stories.size();
        },
        "a thousand ends");

    for (const auto& story : stories) {
        EXPECT_EQ(ends[story.id], std::vector<std::string>{expected(story)}) << story.id;
    }
    for (int i = 0; i < staying; ++i) {
        const auto id = fmt::format("alive{}", i);
        EXPECT_FALSE(ends.contains(id)) << id << ": " << ends[id].front();
        EXPECT_TRUE(is_open(id)) << id;
    }
    const auto status = client.must("node.status");
    EXPECT_EQ(number(status, "leaks.ended_without_reason"), 0);
}

}  // namespace
}  // namespace knell::functional
