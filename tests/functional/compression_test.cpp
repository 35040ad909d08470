// Sessions that are summed up while the machine is short of something, the daemon is killed, or
// they end meanwhile.

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "core/limits.hpp"
#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

class Compression : public WithOwners {
  protected:
    /// One provider with this script, `more` being other keys of `summarizer`.
    void start_with(const std::string& script, const std::string& more = {},
                    const DaemonLimits& limits = {}) {
        write_file(home.file("summarize"), "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(home.file("summarize"), std::filesystem::perms::owner_all);
        write_file(home.file("config.yaml"),
                   fmt::format("summarizer:\n{}  providers:\n    - {{name: near, command: ['{}'], "
                               "timeout: 1h}}\n",
                               more, home.file("summarize")));
        daemon.terminate();
        daemon.start(limits);
        reconnect();
    }
    void say(const std::string& id, const std::string& content) {
        client.must("session.append",
                    fmt::format(R"({{"session_id":"{}","generation":1,"messages":[)"
                                R"({{"role":"user","content":"{}"}}]}})",
                                id, content));
    }
    std::string spoken_in(const std::string& content = "hello there") {
        const auto id = create();
        say(id, content);
        return id;
    }
    static std::string ref(const std::string& id) {
        return fmt::format(R"({{"session_id":"{}","generation":1}})", id);
    }
    /// Without waiting for the answer.
    void ask_for(Client& asker, const std::string& id) {
        asker.send(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.compress","params":{}}})",
                        ref(id)) +
            "\n");
    }
    std::vector<Json> told() {
        std::vector<Json> found;
        for (auto& event : all_events(client)) {
            if (text(event, "type") == "session:compress") found.push_back(std::move(event));
        }
        return found;
    }
    /// For a script: writes a pid all at once, under a name that no other has.
    std::string note(std::string_view pid, std::string_view name) const {
        return fmt::format("echo {0} > {1}.draft && mv {1}.draft {1};", pid, home.file(name));
    }
    pid_t pid_in(const std::string& name) {
        const auto path = home.file(name);
        until([&] { return std::filesystem::exists(path); }, "the provider to say its pid");
        return static_cast<pid_t>(std::stol(read_file(path)));
    }
    /// Files without a name that the daemon holds open.
    std::ptrdiff_t nameless_files() const {
        std::ptrdiff_t count = 0;
        const auto folder = fmt::format("/proc/{}/fd", daemon.pid());
        for (const auto& fd : std::filesystem::directory_iterator(folder)) {
            std::error_code closed;
            const auto target = std::filesystem::read_symlink(fd.path(), closed).string();
            if (target.ends_with("(deleted)")) ++count;
        }
        return count;
    }
};

TEST_F(Compression, AShortageOfProcessesCutsNoConversation) {
    start_with("wc -l", "  fallback: tail\n  tail_messages: 1\n",
               {.descriptors_max = {},
                .file_bytes_max = {},
                .refused_calls = {SYS_vfork},
                .refused_with = EAGAIN});
    const auto id = spoken_in();
    say(id, "and more");

    const auto done = client.must("session.compress", ref(id));

    EXPECT_EQ(text(done, "outcome"), "failed");
    EXPECT_THAT(text(done, "why"), HasSubstr("Resource temporarily unavailable"));
    EXPECT_EQ(text(show(id), "status"), "idle");
    EXPECT_EQ(number(show(id), "message_count"), 2);
}

TEST_F(Compression, WhatFailsBeforeAProviderRunsIsToldToo) {
    start_with("wc -l", "  fallback: tail\n  tail_messages: 1\n",
               {.descriptors_max = {}, .file_bytes_max = 600'000});
    // Six times as long as JSON.
    std::string content;
    for (int i = 0; i < 110'000; ++i) content += R"(\u0001)";
    const auto id = spoken_in(content);

    const auto done = client.must("session.compress", ref(id));

    EXPECT_EQ(text(done, "outcome"), "failed");
    EXPECT_THAT(text(done, "why"), HasSubstr("cannot hold the messages to summarize"));
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(text(told()[0], "outcome"), "failed");
    daemon.wait_for_log(fmt::format("session {} was not compressed, and is as it was", id));
}

TEST_F(Compression, ThatNobodyCanMakeIsRemarkedInTheConfig) {
    write_file(home.file("config.yaml"), "summarizer:\n  at_tokens: 5\n");
    EXPECT_THAT(text(client.must("config.check"), "remarks.0"),
                HasSubstr("summarizer: at_tokens is 5 and there are no providers"));
}

TEST_F(Compression, OnlyThoseWhoseTurnItIsHoldWhatWasSaid) {
    start_with(note("$$", "$KNELL_SESSION_ID") + "exec sleep 1000000");
    const auto before = nameless_files();
    std::vector<std::string> ids;
    for (int i = 0; i < 7; ++i) ids.push_back(spoken_in());
    std::vector<Client> askers;
    for (const auto& id : ids) {
        askers.emplace_back(home.socket());
        ask_for(askers.back(), id);
        // One after the other, so that these four come first.
        if (askers.size() <= 4) pid_in(id);
    }
    client.must("session.list");

    EXPECT_EQ(nameless_files() - before, 4);

    // The place of one that is over is the next one's.
    client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", ids[0]));
    EXPECT_EQ(askers[0].read_answer().kind(), "ended");
    pid_in(ids[4]);
}

TEST_F(Compression, OneMoreThanMayWaitFailsAndIsToldSo) {
    start_with("exec sleep 1000000");
    // A connection has only so many calls under way.
    std::vector<Client> askers;
    for (std::size_t i = 0; i < limits::summary_jobs_max + limits::summary_queue_max; ++i) {
        if (i % 20 == 0) askers.emplace_back(home.socket());
        const auto id = spoken_in();
        ask_for(askers.back(), id);
    }
    // Answered behind what the same connection asked before: all of that was taken.
    for (auto& asker : askers) asker.must("node.status");
    const auto last = spoken_in();

    const auto answer = client.call("session.compress", ref(last));

    EXPECT_EQ(text(answer.whole, "result.outcome"), "failed") << answer.message();
    EXPECT_THAT(text(answer.whole, "result.why"), HasSubstr("256 sessions wait"));
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(text(told()[0], "session_id"), last);
}

TEST_F(Compression, OfASessionThatEndsMeanwhileIsStopped) {
    start_with(note("$$", "$KNELL_SESSION_ID") + "exec sleep 1000000");
    const auto id = spoken_in();
    Client asker(home.socket());
    ask_for(asker, id);
    const Stray provider(pid_in(id));

    const auto child = text(client.must("session.branch", ref(id)), "session_id");

    const auto answer = asker.read_answer();
    EXPECT_EQ(answer.kind(), "ended");
    EXPECT_EQ(text(answer.whole, "error.data.successor"), child);
    provider.wait_until_gone();
    EXPECT_TRUE(told().empty());
}

TEST_F(Compression, WhatAKilledDaemonLeftIsStoppedByTheNext) {
    // One stays in the provider's group; the other says its pid itself, once it has left that.
    start_with(fmt::format("sleep 1000000 & {} setsid sh -c '{} exec sleep 1000000' & wait",
                           note("$!", "child"), note("$$", "away")));
    const auto id = spoken_in();
    Client asker(home.socket());
    ask_for(asker, id);
    const Stray child(pid_in("child"));
    const Stray away(pid_in("away"));

    daemon.kill9();
    EXPECT_TRUE(child.is_running()) << "only the main process dies with its daemon";
    daemon.start();
    reconnect();

    child.wait_until_gone();
    daemon.wait_for_log(fmt::format("stopped process {} of provider near", child.pid()));
    daemon.wait_for_log(fmt::format("process {}, which provider near started", away.pid()));
    EXPECT_TRUE(away.is_running());
    EXPECT_EQ(text(show(id), "status"), "idle");
}

TEST_F(Compression, OfASessionThatEndsWhileItWaitsIsAnsweredAtOnce) {
    start_with(note("$$", "$KNELL_SESSION_ID") + "exec sleep 1000000");
    std::vector<Client> askers;
    std::string last;
    for (int i = 0; i < 5; ++i) {
        last = spoken_in();
        askers.emplace_back(home.socket());
        ask_for(askers.back(), last);
        if (i < 4) pid_in(last);
    }
    // Behind it: who asks again hears of the same.
    Client again(home.socket());
    ask_for(again, last);

    client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", last));

    EXPECT_EQ(askers.back().read_answer().kind(), "ended");
    EXPECT_EQ(again.read_answer().kind(), "ended");
}

}  // namespace
}  // namespace knell::functional
