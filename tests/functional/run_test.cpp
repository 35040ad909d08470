// knell run: the command behaves as without it, and the record says what really happened.

#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Run : public WithDaemon {
  protected:
    Outcome run(const std::vector<std::string>& command, std::string_view input = {}) {
        std::vector<std::string> arguments{"run", "--id", "s", "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        return home.knell(arguments, input);
    }
    void expect_end(std::string_view reason, std::string_view detail) {
        const auto session = show("s");
        EXPECT_EQ(text(session, "status"), "ended");
        EXPECT_EQ(text(session, "reason"), reason);
        EXPECT_EQ(text(session, "detail"), detail);
        EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    }
};

TEST_F(Run, SuccessIsCompleted) {
    const auto outcome = run({"sh", "-c", "echo out; echo err >&2"});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "out\n");
    EXPECT_EQ(outcome.err, "err\n");
    expect_end("completed", "exit 0");
    EXPECT_EQ(text(show("s"), "proof"), "observed");
}

TEST_F(Run, ItsEventsSayWhatRanAndWhere) {
    const auto pid = run({"sh", "-c", "echo $$"}).out;

    const auto told = client.must("events.read", R"({"session_id":"s"})");

    for (const auto* event : {"events.0.", "events.1."}) {
        EXPECT_EQ(text(told, event + std::string("command")), "sh -c echo $$");
        EXPECT_EQ(fmt::format("{}\n", number(told, event + std::string("pid"))), pid);
        EXPECT_EQ(text(told, event + std::string("cwd")), std::filesystem::current_path());
        EXPECT_EQ(text(told, event + std::string("title")), text(show("s"), "title"));
        EXPECT_EQ(text(told, event + std::string("host")), text(show("s"), "owner.host"));
    }
}

TEST_F(Run, AnotherExitStatusIsKept) {
    EXPECT_EQ(run({"sh", "-c", "exit 3"}).status, 3);

    expect_end("exited", "exit 3");
    EXPECT_EQ(text(show("s"), "proof"), "observed");
}

TEST_F(Run, ACommandThatIsNotThereIs127AndNoSession) {
    for (const auto* command : {"no-such-command-anywhere", "/nowhere/at/all", "./no/such"}) {
        const auto outcome = run({command});

        EXPECT_EQ(outcome.status, 127) << command;
        EXPECT_THAT(outcome.err, HasSubstr("command not found; no session was opened"));
    }
    EXPECT_EQ(client.call("session.show", R"({"session_id":"s"})").kind(), "not_found");
}

TEST_F(Run, ACommandThatCannotBeExecutedIs126) {
    write_file(home.file("plain"), "text");

    const auto outcome = run({home.file("plain")});

    EXPECT_EQ(outcome.status, 126);
    EXPECT_THAT(outcome.err, HasSubstr("plain"));
    expect_end("exited", "exit 126");
}

TEST_F(Run, ASignalIsNamedAndPassedOn) {
    EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).status, 137);

    expect_end("signaled", "signal 9 (SIGKILL)");
    EXPECT_EQ(text(show("s"), "proof"), "observed");
}

TEST_F(Run, AShellSees137) {
    auto spawn = home.command({});
    spawn.argv = {"sh", "-c", "\"$0\" run --id s -- sh -c 'kill -9 $$'; echo $?", knell_binary()};

    EXPECT_EQ(run_command(spawn).out, "137\n");
}

TEST_F(Run, TheCommandFindsItsSessionInTheEnvironment) {
    const auto outcome =
        run({"sh", "-c", "echo $KNELL_SESSION_ID $KNELL_GENERATION $KNELL_SOCKET"});

    EXPECT_EQ(outcome.out, fmt::format("s 1 {}\n", home.socket()));
}

TEST_F(Run, TheCommandIsTheOwner) {
    const auto outcome = run({"sh", "-c", "echo $$; exec \"$0\" show s --json", knell_binary()});
    const auto line_end = outcome.out.find('\n');

    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto session = parse(outcome.out.substr(line_end + 1));
    EXPECT_EQ(number(session, "owner.pid"), std::stol(outcome.out.substr(0, line_end)));
}

TEST_F(Run, WhatGoesInAndOutIsUntouched) {
    std::string bytes(1U << 20U, '\0');
    std::ranges::generate(
        bytes, [i = 0U]() mutable { return static_cast<char>(++i * 2654435761U >> 13U); });

    const auto outcome = run({"cat"}, bytes);

    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(outcome.out == bytes);
    EXPECT_EQ(outcome.err, "");
}

TEST_F(Run, ArgumentsAreUntouched) {
    const auto outcome = run({"printf", "[%s]", "--", "-x", "--help", "a b", "", "*", "--id"});

    EXPECT_EQ(outcome.out, "[--][-x][--help][a b][][*][--id]");
}

TEST_F(Run, SignalsToKnellReachTheCommand) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
        const auto id = fmt::format("signal-{}", number);
        Pipe in;
        Pipe out;
        auto spawn = home.command({"run", "--id", id, "--", "sh", "-c", "echo ready; exec cat"});
        spawn.in = in.reading.get();
        spawn.out = out.writing.get();
        Process process(spawn);
        std::string said;
        while (!said.contains("ready\n")) {
            wait_for(out.reading.get(), POLLIN, "the command");
            ASSERT_TRUE(read_available(out.reading.get(), said));
        }

        process.signal(number);

        EXPECT_EQ(process.wait(), 128 + number);
        EXPECT_EQ(text(show(id), "reason"), "signaled");
        EXPECT_THAT(text(show(id), "detail"), StartsWith(fmt::format("signal {} ", number)));
    }
}

TEST_F(Run, OptionsAreRecorded) {
    const auto outcome = home.knell({"run", "--id", "s", "--source", "claude-code", "--key", "k:1",
                                     "--title", "nightly build", "--", "true"});

    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto session = show("s");
    EXPECT_EQ(text(session, "source"), "claude-code");
    EXPECT_EQ(text(session, "key"), "k:1");
    EXPECT_EQ(text(session, "title"), "nightly build");
    EXPECT_NE(text(session, "cwd"), "");
}

TEST_F(Run, AnIdThatEndedIsOpenedAgain) {
    EXPECT_EQ(run({"true"}).status, 0);

    EXPECT_EQ(run({"sh", "-c", "echo $KNELL_GENERATION"}).out, "2\n");

    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1",
                                                   "session:start 2", "session:end 2"));
}

TEST_F(Run, OneThatIsOpenedAgainIsCalledAfterWhatRunsNow) {
    run({"true"});
    auto elsewhere = home.command({"run", "--id", "s", "--", "echo", "two"});
    elsewhere.argv.insert(elsewhere.argv.begin(), {"env", "--chdir", "/"});
    ASSERT_EQ(run_command(elsewhere).out, "two\n");

    const auto told = client.must("events.read", R"({"session_id":"s","types":["session:start"]})");
    EXPECT_EQ(text(told, "events.0.title"), "true");
    EXPECT_EQ(text(told, "events.1.title"), "echo two");
    EXPECT_EQ(text(told, "events.1.cwd"), "/");
    EXPECT_EQ(text(show("s"), "cwd"), "/");
}

TEST_F(Run, ATitleThatAPersonGaveIsNotReplacedByACommandLine) {
    run({"true"});
    client.must("session.title", R"({"session_id":"s","title":"Billing"})");

    run({"echo", "two"});
    EXPECT_EQ(text(show("s"), "title"), "Billing");

    home.knell({"run", "--id", "s", "--title", "Tests", "--", "true"});
    EXPECT_EQ(text(show("s"), "title"), "Tests");
}

TEST_F(Run, AnIdThatIsLiveIsNotRunTwice) {
    create(R"({"id":"s","source":"cli"})");

    const auto outcome = run({"echo", "ran"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("owned by process {}", getpid())));
    EXPECT_EQ(text(show("s"), "status"), "idle");
}

TEST_F(Run, WhoeverTookTheSessionOverKeepsIt) {
    const auto outcome = run({"sh", "-c",
                              "\"$0\" rpc session.resume '{\"session_id\":\"s\",\"takeover\":true,"
                              "\"owner\":{\"lease_ttl_s\":60}}'",
                              knell_binary()});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(text(show("s"), "status"), "idle");
    EXPECT_EQ(number(show("s"), "generation"), 2);
}

TEST_F(Run, WithoutACommandItIsWrongUsage) {
    EXPECT_EQ(home.knell({"run"}).status, 2);
    EXPECT_EQ(home.knell({"run", "--"}).status, 2);
    EXPECT_EQ(home.knell({"run", "--id", "a/b", "--", "true"}).status, 2);
    EXPECT_EQ(home.knell({"run", "--source", "a b", "--", "true"}).status, 2);
    EXPECT_THAT(session_events(client), IsEmpty());
}

TEST_F(Run, ADaemonThatDiesMeanwhileIsReplacedAndTheEndRecorded) {
    const auto outcome = run({"sh", "-c", fmt::format("kill -9 {}; exit 4", daemon.pid())});

    EXPECT_EQ(outcome.status, 4);
    client = Client(home.socket());
    expect_end("exited", "exit 4");
}

TEST(RunAlone, StartsADaemonAndLeavesItRunning) {
    const TempHome home;

    const auto outcome = home.knell({"run", "--id", "s", "--", "sh", "-c", "echo done"});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_EQ(outcome.err, "");
    Client client(home.socket());
    EXPECT_EQ(text(client.must("session.show", R"({"session_id":"s"})"), "reason"), "completed");
    // No second one was tried, which would complain of the lock of the first.
    std::istringstream log(read_file(home.file("knell.log")));
    for (std::string line; std::getline(log, line);) {
        EXPECT_THAT(line, testing::AnyOf(HasSubstr(" info "), HasSubstr(" warning ")));
    }
}

TEST(RunAlone, ManyAtOnceStartOneDaemon) {
    const TempHome home;
    std::vector<Process> racers;
    for (int i = 0; i < 6; ++i) {
        racers.emplace_back(home.command({"run", "--id", fmt::format("r{}", i), "--", "true"}));
    }

    for (auto& racer : racers) EXPECT_EQ(racer.wait(), 0);

    Client client(home.socket());
    const auto ended = ids_of(client.must("session.list", R"({"status":"ended"})"));
    EXPECT_THAT(ended, testing::UnorderedElementsAre("r0", "r1", "r2", "r3", "r4", "r5"));
    const auto log = read_file(home.file("knell.log"));
    EXPECT_EQ(log.find("listens at"), log.rfind("listens at")) << log;
    EXPECT_THAT(home.processes(), testing::SizeIs(1)) << "none is still on its way up";
}

TEST_F(Run, AnOptionThatNoRecordCanHoldIsRefusedBeforeAnythingRuns) {
    const auto touch = home.file("ran");
    for (const auto* option : {"--key", "--title", "--source"}) {
        SCOPED_TRACE(option);
        const auto outcome = home.knell({"run", option, "a\xff", "--", "touch", touch});

        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(outcome.err,
                    HasSubstr(std::string(option) + " holds bytes that are not UTF-8"));
        EXPECT_THAT(names_in(home.path()), testing::Not(testing::Contains("ran")));
    }
    EXPECT_EQ(home.knell({"run", "--key", std::string(513, 'k'), "--", "touch", touch}).status, 2);
    EXPECT_THAT(names_in(home.path()), testing::Not(testing::Contains("ran")));
    EXPECT_THAT(names_in(home.file("spool")), IsEmpty());
}

TEST_F(Run, ACommandLineOrDirectoryThatIsNoTextIsRecordedAsFarAsItIs) {
    std::filesystem::create_directory(home.file("d\xff"));
    auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c", ":", "a\xff"});
    spawn.cwd = home.file("d\xff");

    EXPECT_EQ(run_command(spawn).status, 0);

    EXPECT_EQ(text(show("s"), "title"), "sh -c : a?");
    EXPECT_EQ(text(show("s"), "cwd"), home.file("d?"));
}

}  // namespace
}  // namespace knell::functional
