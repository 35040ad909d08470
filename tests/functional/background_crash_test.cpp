// The daemon is killed at every step of a start, an exit and a stop: nothing is lost, nothing runs
// twice, and nobody else is signalled.

#include <algorithm>
#include <csignal>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/background.hpp"
#include "functional/harness/seed.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

class BackgroundCrash : public WithBackground {
  protected:
    void restart() {
        daemon.kill9();
        daemon.start();
        reconnect();
    }
    /// Writes down that it runs, once a run.
    std::string write_down() const {
        return fmt::format("echo $KNELL_PROCESS_ID >> {}; ", home.file("ran"));
    }
    std::map<std::string, int> runs() const {
        std::map<std::string, int> counted;
        std::istringstream lines(read_file(home.file("ran")));
        for (std::string line; std::getline(lines, line);) ++counted[line];
        return counted;
    }
    /// Sends a call and does not wait for its answer.
    void send_start(int number) {
        const auto params = start_params({"sh", "-c", write_down() + "exec sleep 1000"});
        client.send(
            fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"process.start","params":{}}})",
                        number, params) +
            "\n");
    }
    /// What is on record and what has run are the same, each once.
    void expect_nothing_lost_or_twice(const std::set<std::string>& acknowledged) {
        std::map<std::string, Json> on_record;
        for (auto& one : rows()) on_record.emplace(id_of(one), one);
        for (const auto& id : acknowledged) {
            EXPECT_TRUE(on_record.contains(id)) << id << " was acknowledged and is lost";
        }
        // What runs has been let go, and says so in a moment.
        until(
            [&] {
                const auto ran = runs();
                return std::ranges::all_of(on_record, [&](const auto& one) {
                    return text(one.second, "state") == "exited" || ran.contains(one.first) ||
                           text(row(one.first), "state") == "exited";
                });
            },
            "all that runs to have said so");
        for (const auto& [id, times] : runs()) {
            EXPECT_EQ(times, 1) << id << " has run more than once";
            EXPECT_TRUE(on_record.contains(id)) << id << " has run off the record";
        }
        for (const auto& [id, one] : on_record) {
            const bool runs = text(row(id), "state") == "running";
            EXPECT_EQ(runs, is_running(pid_of(one))) << id;
            if (runs) {
                EXPECT_EQ(this->runs()[id], 1) << id;
            }
            // It left when the gate closed: that is no exit of its program.
            if (!runs && !this->runs().contains(id)) {
                EXPECT_THAT(how(row(id)), testing::AnyOf("never_ran", "lost")) << id;
            }
        }
        std::map<std::string, int> starts;
        std::map<std::string, int> exits;
        for (const auto& event : all_events(client)) {
            if (text(event, "type") == "process:start") ++starts[text(event, "process.process_id")];
            if (text(event, "type") == "process:exit") ++exits[text(event, "process.process_id")];
        }
        for (const auto& [id, one] : on_record) {
            EXPECT_EQ(starts[id], 1) << id;
            EXPECT_EQ(exits[id], text(row(id), "state") == "exited" ? 1 : 0) << id;
        }
    }
};

TEST_F(BackgroundCrash, WhileManyAreStarted) {
    const auto bystander = idle_process();
    const auto seed = choose_seed();
    SCOPED_TRACE(fmt::format("KNELL_TEST_SEED={}", seed));
    auto random = std::mt19937_64(seed);
    std::set<std::string> acknowledged;
    for (int round = 0; round < 12; ++round) {
        constexpr int calls = 5;
        for (int i = 0; i < calls; ++i) send_start(i + 1);
        const auto answers = std::uniform_int_distribution<int>(0, calls)(random);
        for (int i = 0; i < answers; ++i) {
            const auto answer = client.read_answer();
            ASSERT_TRUE(answer.ok()) << answer.message();
            acknowledged.insert(id_of(answer.result()));
        }
        restart();
    }
    expect_nothing_lost_or_twice(acknowledged);
    EXPECT_TRUE(is_running(bystander.pid()));
}

TEST_F(BackgroundCrash, AtTheFirstSignOfAStart) {
    // Its file is there before it is on record: the daemon is killed somewhere in between, or right
    // behind it.
    const Fd watch{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    for (int round = 0; round < 12; ++round) {
        ASSERT_GE(::inotify_add_watch(watch.get(), home.file("processes").c_str(), IN_CREATE), 0);
        send_start(1);
        wait_for(watch.get(), POLLIN, "the output of a process");
        restart();
        std::string events;
        read_available(watch.get(), events);
    }
    expect_nothing_lost_or_twice({});
    until(
        [&] {
            std::set<std::string> known;
            for (const auto& one : rows()) known.insert(id_of(one) + ".out");
            return std::ranges::all_of(names_in(home.file("processes")),
                                       [&](const auto& name) { return known.contains(name); });
        },
        "the output of what never came on record to be removed");
}

TEST_F(BackgroundCrash, WhileItStandsStillWithOneAtTheGate) {
    for (int round = 0; round < 8; ++round) {
        send_start(1);
        daemon.freeze();
        restart();
    }
    expect_nothing_lost_or_twice({});
}

TEST_F(BackgroundCrash, WhileManyEnd) {
    std::set<std::string> acknowledged;
    std::vector<pid_t> pids;
    for (int i = 0; i < 30; ++i) {
        const auto process = start({"sh", "-c", write_down() + "exec sleep 1000"});
        acknowledged.insert(id_of(process));
        pids.push_back(pid_of(process));
    }
    for (std::size_t i = 0; i < pids.size(); i += 6) {
        for (std::size_t k = i; k < i + 6; ++k) {
            until([&] { return runs().size() == acknowledged.size(); }, "all to run");
            ::kill(pids[k], SIGKILL);
        }
        restart();
    }
    for (const auto& id : acknowledged) {
        EXPECT_THAT(how(exited(id)), testing::AnyOf("signaled 9", "lost"));
    }
    expect_nothing_lost_or_twice(acknowledged);
}

TEST_F(BackgroundCrash, WhileOneIsStopped) {
    const auto bystander = idle_process();
    const auto process =
        start_shell("trap '' TERM; sleep 1000 & echo $! ready; while :; do wait; done");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));
    stop(id);
    restart();  // in the middle of its grace
    EXPECT_FALSE(at(row(id), "stop_asked_at").is_null());
    restart();
    EXPECT_THAT(how(exited(id)), testing::AnyOf("signaled 9", "lost")) << "the stop goes on";
    below.wait_until_gone();
    EXPECT_TRUE(is_running(bystander.pid()));
    EXPECT_EQ(count_events("process:exit"), 1U);
}

TEST_F(BackgroundCrash, WhatDaemonisedMeanwhileIsFoundByItsMark) {
    const auto process = start_shell("setsid sleep 1000 & echo $! ready; read x < /dev/zero");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));
    const Stray itself(pid_of(process));
    daemon.kill9();
    itself.kill();
    itself.wait_until_gone();
    ::waitpid(itself.pid(), nullptr, 0);
    daemon.start();
    reconnect();
    exited(id);
    until(
        [&] {
            return std::ranges::any_of(rows(),
                                       [&](const auto& one) { return pid_of(one) == below.pid(); });
        },
        "what it left running to be on record");
}

TEST_F(BackgroundCrash, WhatAnEndedOneLeftIsOnRecordAfterTheNextStart) {
    const auto process = start_shell("setsid sleep 1000 & echo $! ready; exit 0");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));
    exited(id);
    // Its exit is on record, and what it left is looked for a moment later.
    daemon.kill9();
    daemon.start();
    reconnect();
    until(
        [&] {
            return std::ranges::any_of(rows(),
                                       [&](const auto& one) { return pid_of(one) == below.pid(); });
        },
        "what it left running to be on record");
}

TEST_F(BackgroundCrash, AStopGoesOnWhereItsProcessIsGoneAndWhatItStartedIsNot) {
    const auto process = start_shell("(trap '' TERM; exec sleep 1000) & echo $! ready; wait");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));
    client.must("process.stop", R"({"process_id":")" + id + R"("})");
    EXPECT_TRUE(at(exited(id), "stopping").as_bool()) << "its child has its grace";
    daemon.kill9();
    daemon.start();
    reconnect();
    EXPECT_TRUE(at(row(id), "stopping").as_bool()) << "the stop goes on";
    until([&] { return !at(row(id), "stopping").as_bool(); }, "all of it to be gone");
    EXPECT_FALSE(is_running(below.pid()));
}

}  // namespace
}  // namespace knell::functional
