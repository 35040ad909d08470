// How a command ended is told by its `knell run`, whichever daemon listens and whoever else is
// there; and nobody's word hides a death that has happened.

#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class ParentsWord : public WithOwners {
  protected:
    static constexpr auto quiet = ">/dev/null 2>&1 </dev/null";

    /// The end of a command that left one process, which is to be stopped, and exited with 3.
    void expect_whole_end(const std::string& id, const Stray& left) {
        const auto session = ended(id);
        EXPECT_EQ(text(session, "reason"), "exited");
        EXPECT_EQ(text(session, "detail"), "exit 3");
        EXPECT_EQ(text(session, "proof"), "observed");
        EXPECT_THAT(text(session, "evidence"), HasSubstr("the command's parent, waited for it"));
        EXPECT_EQ(number(session, "leftovers.0.pid"), left.pid());
        left.wait_until_gone();
    }
};

/// `knell run` of a command that leaves a process behind and exits with 3 when it is told to.
struct LeavingRun {
    LeavingRun(const TempHome& home, const std::string& leftovers) {
        Pipe out;
        auto spawn =
            home.command({"run", "--id", "s", "--leftovers", leftovers, "--", "sh", "-c",
                          "setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $!; read end; "
                          "exit 3"});
        spawn.in = in.reading.get();
        spawn.out = out.writing.get();
        spawn.err = err.writing.get();
        wrapper.emplace(spawn);
        in.reading.reset();
        out.writing.reset();
        err.writing.reset();
        std::string said;
        while (!said.contains('\n') && read_available(out.reading.get(), said)) {
        }
        left.emplace(static_cast<pid_t>(std::stol(said)));
    }
    void end() { in.writing.reset(); }

    Pipe in;
    Pipe err;
    std::optional<Process> wrapper;
    std::optional<Stray> left;
};

TEST_F(ParentsWord, IsTakenByALaterDaemonToo) {
    LeavingRun run(home, "stop");

    daemon.restart();
    client = Client(home.socket());
    run.end();

    EXPECT_EQ(run.wrapper->wait(), 3);
    expect_whole_end("s", *run.left);
    EXPECT_THAT(read_to_end(run.err.reading.get()), HasSubstr(fmt::format("{} ", run.left->pid())));
}

TEST_F(ParentsWord, IsTakenAlsoWhereTheWrapperHadAChildOfItsOwn) {
    Spawn spawn = home.command({});
    spawn.argv = {"sh", "-c",
                  fmt::format("sleep 600 {0} & echo $!; exec \"$0\" run --id s --leftovers stop -- "
                              "sh -c 'setsid sleep 601 {0} & echo $!; exit 3'",
                              quiet),
                  knell_binary()};
    const auto outcome = run_command(spawn);
    const Stray before(static_cast<pid_t>(std::stol(outcome.out)));
    const Stray left(static_cast<pid_t>(std::stol(outcome.out.substr(outcome.out.find('\n')))));

    EXPECT_EQ(outcome.status, 3);
    expect_whole_end("s", left);
    EXPECT_TRUE(before.is_running()) << "it was there before the command";
}

TEST_F(ParentsWord, NamesWhatWasLeftWhenItReachesNobody) {
    LeavingRun run(home, "report");
    ASSERT_EQ(daemon.terminate(), 0);
    Fd lock{::open(home.file("knell.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);

    run.end();
    EXPECT_EQ(run.wrapper->wait(), 3);
    lock.reset();

    const auto told = read_to_end(run.err.reading.get());
    EXPECT_THAT(
        told, HasSubstr(fmt::format("left running, not recorded: {} sleep 600", run.left->pid())));
    EXPECT_THAT(told, HasSubstr("`fuser ")) << "nobody is blamed who does not hold the lock";
    daemon.start();
    client = Client(home.socket());
    EXPECT_EQ(text(ended("s"), "detail"), "exit 3");
    EXPECT_THAT(text(ended("s"), "evidence"), HasSubstr("left running was not looked for"));
}

TEST_F(ParentsWord, IsNotWaitedForByWhoStartsTheCommandAgain) {
    for (int round = 0; round < 3; ++round) {
        Pipe out;
        auto spawn =
            home.command({"run", "--id", "s", "--", "sh", "-c", "echo $$; exec sleep 600"});
        spawn.argv.insert(spawn.argv.begin(), "setsid");
        spawn.out = out.writing.get();
        Process wrapper(spawn);
        out.writing.reset();
        std::string said;
        while (!said.contains('\n')) ASSERT_TRUE(read_available(out.reading.get(), said));
        const Stray command(static_cast<pid_t>(std::stol(said)));
        // As a supervisor or the kernel does it, with nobody left to tell.
        ASSERT_EQ(::kill(-wrapper.pid(), SIGKILL), 0);
        wrapper.wait();
        command.wait_until_gone();  // where processors are scarce it lives a little longer

        const auto again = home.knell({"run", "--id", "s", "--", "true"});

        EXPECT_EQ(again.status, 0) << again.err;
        EXPECT_EQ(number(ended("s"), "generation"), 2 * (round + 1));
    }
}

/// A death that has happened, but that the daemon had no time to notice.
class UnnoticedDeath : public ParentsWord {
  protected:
    void SetUp() override {
        own("s", owner.pid());
        daemon.freeze();
        owner.signal(SIGKILL);
        owner.become_zombie();
    }
    /// Sent while the daemon stands still: it finds the word and the death at once.
    Json say(std::string_view method, std::string_view params) {
        client.send(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params) +
            "\n");
        daemon.signal(SIGCONT);
        return client.read_answer().result();
    }

    Puppet owner;
};

TEST_F(UnnoticedDeath, IsNotHiddenByAClose) {
    const auto closed = say("session.close", R"({"session_id":"s","reason":"completed"})");

    EXPECT_TRUE(at(closed, "already_ended").as_bool());
    EXPECT_EQ(text(closed, "reason"), "signaled");
    EXPECT_EQ(text(show("s"), "detail"), "signal 9 (SIGKILL)");
    EXPECT_EQ(text(show("s"), "proof"), "observed");
}

TEST_F(UnnoticedDeath, IsNotHiddenByATakeover) {
    const auto resumed = say("session.resume", R"({"session_id":"s","takeover":true})");

    EXPECT_EQ(number(resumed, "generation"), 2);
    const auto ends = client.must("events.read", R"({"types":["session:end"]})");
    EXPECT_EQ(text(ends, "events.0.reason"), "signaled");
}

TEST_F(UnnoticedDeath, IsSeenByWhoeverAsksForItsId) {
    client.send(
        R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"id":"s","source":"test"}})"
        "\n");
    daemon.signal(SIGCONT);

    const auto answer = client.read_answer();

    EXPECT_EQ(answer.kind(), "ended");
}

TEST_F(UnnoticedDeath, LetsAnotherOpenTheSessionAgain) {
    const auto resumed = say("session.resume", R"({"session_id":"s"})");

    EXPECT_EQ(number(resumed, "generation"), 2) << "nobody owns it";
}

}  // namespace
}  // namespace knell::functional
