// Processes that the daemon starts for a session: what they get, what is kept of them, how they are
// stopped, and what belongs to them.

#include "functional/harness/background.hpp"

#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "functional/harness/inside.hpp"
#include "functional/harness/world.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A sleep that no other test has.
const std::string nap = fmt::format("sleep 9{:08}", ::getpid());

bool is_anybody_napping() {
    return !run_command({.argv = {"pgrep", "-f", nap}}).out.empty();
}

class Background : public WithBackground {
  protected:
    std::int64_t bytes_on_disk(const std::string& id) const {
        struct stat found{};
        if (::stat(home.file("processes/" + id + ".out").c_str(), &found) != 0) return -1;
        return found.st_blocks * 512;
    }
};

TEST_F(Background, RunsInASessionOfItsOwnWithWhatItWasGiven) {
    ::setenv("A_SECRET_OF_THE_TEST", "1", 1);
    const auto process =
        start({"sh", "-c",
               "echo $KNELL_SESSION_ID $KNELL_GENERATION $KNELL_PROCESS_ID $MINE; pwd; cat; "
               "readlink /proc/self/fd/0; env | grep -c SECRET; exit 3"},
              R"("cwd":"/usr","env":{"MINE":"yes"},"title":"a try","task_id":"t1")");
    const auto id = id_of(process);
    EXPECT_THAT(id, StartsWith("p-"));
    EXPECT_EQ(text(process, "state"), "running");
    EXPECT_EQ(text(process, "origin"), "started");
    EXPECT_EQ(text(process, "cwd"), "/usr");
    EXPECT_EQ(text(process, "title"), "a try");

    const auto after = exited(id);

    EXPECT_EQ(how(after), "exited 3");
    EXPECT_EQ(text(output(id), "output"),
              fmt::format("{} 1 {} yes\n/usr\n/dev/null\n0\n", session, id));
    EXPECT_EQ(count_events("process:start"), 1U);
    EXPECT_EQ(count_events("process:exit"), 1U);
    EXPECT_EQ(mode_of(home.file("processes")), 0700U);
    EXPECT_EQ(mode_of(home.file("processes/" + id + ".out")), 0600U);
    EXPECT_FALSE(is_running(pid_of(process)));
}

TEST_F(Background, WhatIsWrongIsAnErrorOfTheCallAndLeavesNothing) {
    const auto refused = [&](const std::string& params) {
        return client.call("process.start", params);
    };
    EXPECT_EQ(refused(start_params({"no-such-program"})).field(), "argv");
    EXPECT_EQ(refused(start_params({"/etc/passwd"})).field(), "argv");
    EXPECT_EQ(refused(start_params({"true"}, R"("cwd":"/nowhere")")).field(), "cwd");
    EXPECT_EQ(refused(R"({"session_id":"none","argv":["true"]})").kind(), "not_found");
    client.must("session.close", R"({"session_id":")" + session + R"(","reason":"completed"})");
    EXPECT_EQ(refused(start_params({"true"})).kind(), "ended");
    EXPECT_THAT(names_in(home.file("processes")), testing::IsEmpty());
    EXPECT_EQ(count_events("process:start"), 0U);
}

TEST_F(Background, AProgramThatCannotBeExecutedAfterAllNeverRan) {
    const auto script = home.file("script");
    write_file(script, "#!/no/such/interpreter\n");
    ::chmod(script.c_str(), 0700);
    const auto row = exited(id_of(start({script})));
    EXPECT_EQ(text(row, "exit.kind"), "never_ran");
    EXPECT_THAT(text(row, "exit.evidence"), HasSubstr("could not be executed"));
}

TEST_F(Background, GoesOnWithoutTheDaemonAndIsFoundAgain) {
    const auto fifo = home.file("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    // Opened once, for writing too: no line is lost between two readers, and nobody waits for one.
    const auto process = start_shell(
        fmt::format("exec 3<>{0}; echo before; read x <&3; echo while; read x <&3; echo after; "
                    "read x <&3; exit 4",
                    fifo));
    const auto id = id_of(process);
    const Stray stray(pid_of(process));
    until_it_wrote(id, "before");

    daemon.kill9();
    write_file(fifo, "\n");
    daemon.start();
    reconnect();

    until_it_wrote(id, "before\nwhile\n");
    EXPECT_EQ(text(row(id), "state"), "running");
    EXPECT_EQ(pid_of(row(id)), stray.pid());
    write_file(fifo, "\n");
    until_it_wrote(id, "before\nwhile\nafter\n");
    write_file(fifo, "\n");
    const auto after = exited(id);
    EXPECT_EQ(how(after), "exited 4");
    EXPECT_EQ(count_events("process:start"), 1U);
    EXPECT_EQ(count_events("process:exit"), 1U);
    EXPECT_EQ(text(output(id), "output"), "before\nwhile\nafter\n");
}

TEST_F(Background, OneThatEndedWhileTheDaemonWasDownIsSaidToHaveEnded) {
    const auto process = start({"sleep", "1000"});
    const Stray stray(pid_of(process));
    daemon.kill9();
    stray.kill();
    stray.wait_until_gone();
    daemon.start();
    reconnect();
    const auto after = exited(id_of(process));
    EXPECT_THAT(how(after), testing::AnyOf("signaled 9", "lost"));
    EXPECT_EQ(count_events("process:exit"), 1U);
}

TEST_F(Background, IsStoppedWithAllThatItStarted) {
    const auto bystander = idle_process();
    const auto process = start_shell("sleep 1001 & setsid sleep 1002 & echo $! ready; wait");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));

    const auto stopped = stop(id);

    EXPECT_TRUE(at(stopped, "stopping").as_bool());
    EXPECT_EQ(how(exited(id)), "signaled 15");
    below.wait_until_gone();
    EXPECT_TRUE(is_running(bystander.pid()));
    EXPECT_TRUE(at(stop(id), "already_exited").as_bool());
}

TEST_F(Background, OneThatIgnoresItIsKilledWithItsChildren) {
    const auto process =
        start_shell("trap '' TERM; sleep 1001 & echo $! ready; while :; do wait; done");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));
    stop(id);
    EXPECT_EQ(how(exited(id)), "signaled 9");
    below.wait_until_gone();
}

TEST_F(Background, IsStoppedOnceWhatItStartedIsGoneToo) {
    const auto process = start_shell("(trap '' TERM; exec sleep 1001) & echo $! ready; wait");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id), "output"))));

    const auto outcome = home.knell({"stop", id});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, id + " stopped: signal 15 (SIGTERM)\n");
    EXPECT_FALSE(is_running(below.pid())) << "it ignores SIGTERM, and had its grace";
    EXPECT_FALSE(at(row(id), "stopping").as_bool());
}

TEST_F(Background, WhatHasAnOwnerBelowItIsLeftAndTheRecordSaysWhy) {
    const auto process = start_shell("sleep 1001 & echo $! ready; wait");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    const auto below = static_cast<pid_t>(std::stol(text(output(id), "output")));
    const auto agent = client.must(
        "session.create",
        fmt::format(R"({{"source":"cli","owner":{{"kind":"process","pid":{}}}}})", below));

    const auto outcome = home.knell({"stop", id});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("was not stopped: process " +
                                       std::to_string(pid_of(process)) + " (sh -c sleep 1001"));
    EXPECT_THAT(outcome.err, HasSubstr("it, or something below it, owns an open session"));
    EXPECT_TRUE(is_running(pid_of(process)));
    EXPECT_TRUE(is_running(below));
    until([&] { return at(row(id), "stop_asked_at").is_null(); }, "the stop to be taken back");
    EXPECT_FALSE(at(row(id), "stopping").as_bool());
    daemon.kill9();
    daemon.start();
    reconnect();
    EXPECT_FALSE(at(row(id), "stopping").as_bool()) << "nobody goes on with it";
    EXPECT_THAT(text(row(id), "stop_failed"), HasSubstr("owns an open session"));

    client.must("session.close",
                fmt::format(R"({{"session_id":"{}"}})", text(agent, "session_id")));
    EXPECT_EQ(home.knell({"stop", id}).status, 0) << "nothing keeps it any more";
}

TEST_F(Background, AStormOfForksIsStopped) {
    const auto process = start_shell(
        "trap '' TERM; storm() { i=0; while [ $i -lt 300 ]; do (sleep 0.01; exec " + nap +
        ") & i=$((i+1)); done; wait; }; storm & storm & echo ready; wait; sleep 1000");
    const auto id = id_of(process);
    until_it_wrote(id, "ready");
    stop(id);
    EXPECT_EQ(how(exited(id)), "signaled 9");
    daemon.wait_for_log(fmt::format("background process {} (pid {}) and what belongs to it: killed",
                                    id, pid_of(process)));
    EXPECT_FALSE(is_anybody_napping());
}

TEST_F(Background, WhatDaemonisesIsOnRecordWhenItsParentIsGone) {
    const auto process =
        start_shell("setsid sh -c 'echo $$ ready; exec sleep 1004' & sleep 0.2; exit 0");
    const auto id = id_of(process);
    EXPECT_EQ(how(exited(id)), "exited 0");
    std::string survivor;
    until(
        [&] {
            for (const auto& row : rows()) {
                if (text(row, "origin") == "leftover") survivor = id_of(row);
            }
            return !survivor.empty();
        },
        "what it left running to be on record");
    const auto left = row(survivor);
    EXPECT_EQ(text(left, "state"), "running");
    EXPECT_THAT(text(output(id), "output"), StartsWith(fmt::format("{} ready", pid_of(left))));
    EXPECT_THAT(text(left, "command"), HasSubstr("sleep 1004"));
    stop(survivor);
    EXPECT_EQ(how(exited(survivor)), "signaled 15");
}

TEST_F(Background, AFloodIsCutAndSaysWhatIsGone) {
    const auto process = start({"dd", "if=/dev/zero", "bs=1M", "count=400", "status=none"});
    const auto id = id_of(process);
    std::int64_t most = 0;
    until(
        [&] {
            most = std::max(most, bytes_on_disk(id));
            return text(row(id), "state") == "exited";
        },
        "the end of the flood");
    until([&] { return bytes_on_disk(id) < (2 << 20); }, "its output to be cut");
    EXPECT_LT(most, 400 << 20);
    const auto page = output(id, R"("after":0,"limit":1000,"encoding":"base64")");
    EXPECT_EQ(number(page, "gap.from"), 0);
    EXPECT_EQ(number(page, "gap.to"), number(page, "after") - 1);
    EXPECT_EQ(number(output(id, R"("encoding":"base64")"), "next"), 400 << 20);
}

TEST_F(Background, BinaryOutputComesAsItIs) {
    const auto id = id_of(start_shell(R"(printf '\000\377\200abc')"));
    exited(id);
    EXPECT_EQ(text(output(id, R"("after":0,"encoding":"base64")"), "output"), "AP+AYWJj");
}

TEST_F(Background, TheEndOfItsSessionNamesItAndStopsItWhereItShall) {
    Puppet owner;
    own("kept", owner.pid());
    own("stopped", owner.pid(), R"("leftovers":"stop")");
    session = "kept";
    const auto kept = start({"sleep", "1005"});
    session = "stopped";
    const auto stopped = start_shell("setsid sleep 1006 & echo $! ready; wait");
    until_it_wrote(id_of(stopped), "ready");
    const Stray below(static_cast<pid_t>(std::stol(text(output(id_of(stopped)), "output"))));

    owner.tell("exit 0");
    owner.wait();

    for (const char* name : {"kept", "stopped"}) {
        const auto over = ended(name);
        const auto& leftovers = array(over, "leftovers");
        ASSERT_EQ(leftovers.size(), 1U) << name;
        EXPECT_EQ(text(leftovers[0], "process_id"), id_of(session == name ? stopped : kept));
    }
    EXPECT_EQ(how(exited(id_of(stopped))), "signaled 15");
    below.wait_until_gone();
    EXPECT_EQ(text(row(id_of(kept)), "state"), "running");
    EXPECT_EQ(text(row(id_of(kept)), "session"), "ended");
}

/// Uses the processor, which shows when it was seen in a tree that does nothing else.
const std::string busy = "setsid env -i sh -c 'while :; do :; done'";

TEST_F(Background, WhatClearsItsEnvironmentIsListedWhenItWasSeenBefore) {
    const auto fifo = home.file("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const auto process = start_shell(fmt::format("{} & echo $!; read x < {}", busy, fifo));
    const auto id = id_of(process);
    until_it_wrote(id, "\n");
    const Stray left(std::stoi(text(output(id), "output")));
    until([&] { return text(row(id), "evidence").contains("of a core"); },
          "what it started to be seen below it");

    write_file(fifo, "\n");
    exited(id);

    std::string survivor;
    until(
        [&] {
            for (const auto& row : rows()) {
                if (text(row, "origin") == "leftover") survivor = id_of(row);
            }
            return !survivor.empty();
        },
        "what it left running to be on record");
    EXPECT_EQ(pid_of(row(survivor)), left.pid());
    stop(survivor);
    exited(survivor);
    left.wait_until_gone();
}

TEST_F(Background, WhatLeftOneThatSomebodyElseStartedIsLeftAlone) {
    const auto fifo = home.file("fifo");
    const auto told = home.file("told");
    for (const auto& path : {fifo, told}) ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto between = home.file("between");
    write_file(between, fmt::format("{} & echo $! > {}; read x < {}", busy, told, fifo));
    Puppet other;
    const auto pid = other.ask_pid(
        fmt::format("sh -c 'echo $$; sh {}; echo > {}; exec sleep 1013' &", between, told));
    const Stray left(std::stoi(read_file(told)));
    const auto id = id_of(client.must(
        "process.register", fmt::format(R"({{"session_id":"{}","pid":{}}})", session, pid)));
    until([&] { return text(row(id), "evidence").contains("of a core"); },
          "what it started to be seen below it");
    write_file(fifo, "\n");
    read_file(told);  // nobody is between them any more

    stop(id);
    daemon.wait_for_log(
        fmt::format("background process {} (pid {}) and what belongs to it: ", id, pid));

    EXPECT_TRUE(left.is_running());
}

TEST_F(Background, OnesThatSomebodyElseStartedAreWatchedAndStopped) {
    Puppet other;
    const auto pid = other.ask_pid("sleep 1007 & echo $!");
    const auto process = client.must(
        "process.register", fmt::format(R"({{"session_id":"{}","pid":{}}})", session, pid));
    EXPECT_EQ(text(process, "origin"), "registered");
    EXPECT_EQ(client.call("process.output", R"({"process_id":")" + id_of(process) + R"("})").kind(),
              "not_found");
    stop(id_of(process));
    EXPECT_THAT(how(exited(id_of(process))), testing::AnyOf("signaled 15", "lost"));
    EXPECT_TRUE(is_running(other.pid()));
}

TEST_F(Background, AZombieIsGoneWhateverItsParentDoes) {
    Puppet other;
    // Its parent waits for nobody.
    const auto pid = other.ask_pid("sh -c 'sleep 1008 & echo $!; exec sleep 1009' &");
    const auto process = client.must(
        "process.register", fmt::format(R"({{"session_id":"{}","pid":{}}})", session, pid));
    ::kill(pid, SIGKILL);
    EXPECT_EQ(how(exited(id_of(process))), "signaled 9");
    other.tell("kill $!; exit");
    other.wait();
}

TEST_F(Background, ANamespaceOfItsOwnIsStoppedWithIt) {
    if (!may_unshare()) GTEST_SKIP() << "needs root to make a pid namespace";
    const auto process = start(
        {"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", nap + " & echo ready; wait"});
    until_it_wrote(id_of(process), "ready");
    stop(id_of(process));
    exited(id_of(process));
    until([] { return !is_anybody_napping(); }, "what ran in the namespace to be gone");
}

TEST_F(Background, MoreThanThereAreDescriptorsFor) {
    daemon.terminate();
    daemon.start({.descriptors_max = 128, .file_bytes_max = {}});
    reconnect();
    for (int i = 0; i < 60; ++i) start({"sleep", "1011"});
    const auto all = rows();
    ASSERT_EQ(all.size(), 60U);
    for (const auto& row : all) ::kill(pid_of(row), SIGKILL);
    for (const auto& row : all) EXPECT_EQ(how(exited(id_of(row))), "signaled 9");
    EXPECT_EQ(count_events("process:exit"), 60U);
}

TEST_F(Background, NoMoreThanASessionMayHave) {
    write_file(home.file("config.yaml"), "processes:\n  per_session: 2\n");
    daemon.terminate();
    daemon.start();
    reconnect();
    start({"sleep", "1012"});
    start({"sleep", "1012"});
    const auto third = client.call("process.start", start_params({"sh", "-c", nap}));
    EXPECT_EQ(third.kind(), "limit");
    EXPECT_EQ(names_in(home.file("processes")).size(), 2U) << "nothing is left of it";
    EXPECT_FALSE(is_anybody_napping());
}

}  // namespace
}  // namespace knell::functional
