// The daemon is killed between deciding a reset and signalling what ran, and between having a
// summary and publishing it.

#include <csignal>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "functional/harness/dither.hpp"
#include "functional/harness/routes.hpp"
#include "functional/harness/seed.hpp"

namespace knell::functional {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;

std::string request(std::string_view method, const std::string& params) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params) +
           "\n";
}

class ResetCrash : public WithRoutes {
  protected:
    ResetCrash() : random_(choose_seed()) {}

    void restart() {
        daemon.kill9();
        daemon.start();
        reconnect();
    }
    static std::string params_of(const std::string& id) {
        return fmt::format(R"({{"session_id":"{}","generation":1}})", id);
    }

    std::mt19937_64 random_;
};

// --- between the decision and the signal -------------------------------------------------------

class ResetThatStops : public ResetCrash {
  protected:
    void SetUp() override {
        restart_with("session_reset:\n  mode: idle\n  idle_minutes: 60\n  on_reset: stop\n");
    }
    /// What became of the only process that ran in it, once that is known.
    std::string fate_of_process(const std::string& of) {
        std::string fate;
        until(
            [&] {
                fate = text(show(of), "leftovers.0.fate");
                return fate != "stopping";
            },
            "what became of what ran");
        return fate;
    }
};

TEST_F(ResetThatStops, WhatIgnoresTermIsStoppedByTheDaemonAfterThat) {
    const auto bystander = idle_process();
    session = text(route(), "session_id");
    const auto process =
        start_shell("trap '' TERM; sleep 1000 & echo $! ready; while :; do wait; done");
    until_it_wrote(id_of(process), "ready");
    const Stray itself(pid_of(process));
    const Stray below(static_cast<pid_t>(std::stol(text(output(id_of(process)), "output"))));
    edit("UPDATE processes SET activity = 'waiting', started_at = started_at - 7200000");
    let_pass(26);  // too old to hold it
    ended(session);

    restart();  // within its grace: nothing was killed yet
    EXPECT_EQ(text(show(session), "leftovers.0.process_id"), id_of(process));
    restart();

    exited(id_of(process));
    itself.wait_until_gone();
    below.wait_until_gone();
    EXPECT_THAT(fate_of_process(session), AnyOf("stopped", "killed", "gone"));
    EXPECT_EQ(told("session:end", session).size(), 1U);
    EXPECT_EQ(told("process:exit").size(), 1U);
    EXPECT_TRUE(is_running(bystander.pid()));
}

TEST_F(ResetThatStops, AtAnyMoment) {
    const auto bystander = idle_process();
    int decided = 0;
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        const auto to = fmt::format("key-{}", round);
        session = text(route("", to), "session_id");
        const auto process = start({"sleep", "1000"});
        const auto pid = pid_of(process);
        client.must("session.suspend", fmt::format(R"({{"key":"{}"}})", to));
        client.send(request("session.route", route_params("", to)));
        // Right behind its answer, or whenever.
        if (round % 2 == 0) {
            ASSERT_TRUE(client.read_answer().ok());
        } else {
            dither(random_() % 40'000'000);
        }
        restart();

        const auto row = show(session);
        const auto ends = told("session:end", session).size();
        if (text(row, "status") != "ended") {
            // Nothing had been decided: nothing happened.
            EXPECT_EQ(ends, 0U);
            EXPECT_TRUE(is_running(pid));
            EXPECT_EQ(text(this->row(id_of(process)), "state"), "running");
            continue;
        }
        ++decided;
        EXPECT_EQ(ends, 1U);
        EXPECT_EQ(text(row, "reason"), "auto_reset");
        EXPECT_EQ(text(row, "leftovers.0.process_id"), id_of(process));
        exited(id_of(process));
        EXPECT_THAT(fate_of_process(session), AnyOf("stopped", "killed", "gone"));
        const auto next = route("", to);
        EXPECT_FALSE(at(next, "new").as_bool()) << "it was opened with that end";
        EXPECT_EQ(text(show(text(next, "session_id")), "parent_id"), session);
    }
    EXPECT_GE(decided, rounds / 2);
    EXPECT_TRUE(is_running(bystander.pid()));
}

// --- between the summary and the publication ---------------------------------------------------

class CompressionCrash : public ResetCrash {
  protected:
    void open_with_messages(std::string_view to = key) {
        session = text(route("", to), "session_id");
        client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                        {{"role":"user","content":"hello there"}},
                        {{"role":"assistant","content":"and to you"}}]}})",
                                                  session));
    }
    std::vector<std::string> said_in(const std::string& id) {
        const auto shown =
            client.must("session.show", fmt::format(R"({{"session_id":"{}","messages":10}})", id));
        std::vector<std::string> contents;
        for (const auto& message : array(shown, "messages")) {
            contents.push_back(text(message, "content"));
        }
        return contents;
    }
    void expect_as_it_was() {
        EXPECT_EQ(text(show(session), "status"), "idle");
        EXPECT_THAT(said_in(session), ElementsAre("hello there", "and to you"));
        EXPECT_THAT(story_of(client, session), ElementsAre("session:start 1"));
    }
    void expect_compressed(const std::string& child) {
        EXPECT_EQ(text(show(session), "reason"), "compression");
        EXPECT_EQ(text(show(child), "relation"), "compression");
        EXPECT_EQ(text(show(child), "parent_id"), session);
        EXPECT_THAT(said_in(child), ElementsAre("2"));
        EXPECT_THAT(said_in(session), ElementsAre("hello there", "and to you"));
        EXPECT_EQ(told("session:end", session).size(), 1U);
        EXPECT_EQ(told("session:compress", session).size(), 1U);
    }
};

TEST_F(CompressionCrash, BetweenTheSummaryAndItsPublicationChangesNothing) {
    const auto made = home.file("made");
    const auto gate = home.file("gate");
    ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
    restart_with(
        fmt::format("summarizer:\n  providers:\n    - {{name: slow, timeout: 30, command: "
                    "[sh, -c, 'wc -l; echo $$ > {}; read x < {}']}}\n",
                    made, gate));
    open_with_messages();
    client.send(request("session.compress", params_of(session)));
    until([&] { return read_file(made).ends_with('\n'); }, "the summary");
    const auto provider = static_cast<pid_t>(std::stol(read_file(made)));
    // It has written all that it will; now it ends, and nobody takes note.
    daemon.freeze();
    write_file(gate, "go on\n");
    while (is_running(provider)) daemon.listen();

    restart();

    expect_as_it_was();
    EXPECT_EQ(told("session:compress").size(), 0U);
    EXPECT_EQ(text(route(), "session_id"), session);
    configure("summarizer:\n  providers: [{name: quick, timeout: 30, command: [wc, -l]}]\n");
    daemon.wait_for_log("config reloaded");
    const auto done = client.must("session.compress", params_of(session));
    expect_compressed(text(done, "child.session_id"));
    EXPECT_EQ(text(route(), "session_id"), text(done, "child.session_id"));
}

TEST_F(CompressionCrash, AtAnyMomentLeavesNoHalf) {
    restart_with("summarizer:\n  providers: [{name: quick, timeout: 30, command: [wc, -l]}]\n");
    int published = 0;
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        const auto to = fmt::format("key-{}", round);
        open_with_messages(to);
        client.send(request("session.compress", params_of(session)));
        if (round % 2 == 0) {
            ASSERT_TRUE(client.read_answer().ok());
        } else {
            dither(random_() % 60'000'000);
        }
        restart();

        const auto next = route("", to);
        EXPECT_FALSE(at(next, "new").as_bool());
        if (text(next, "session_id") != session) {
            ++published;
            expect_compressed(text(next, "session_id"));
            continue;
        }
        expect_as_it_was();
        const auto done = client.must("session.compress", params_of(session));
        expect_compressed(text(done, "child.session_id"));
    }
    EXPECT_GE(published, rounds / 2);
}

}  // namespace
}  // namespace knell::functional
