#include "deliver/hook/runner.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "testing/hook_trial.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::HookTrial;
using testing::is_let_go;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_line;
using ::testing::SizeIs;
using testing::write_line;
using Kind = Outcome::Kind;

constexpr SteadyTime at(std::chrono::nanoseconds since_start) {
    return SteadyTime{since_start};
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A variable of ours for as long as a test runs.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

class HookRunnerTest : public ::testing::Test, public HookTrial {
  protected:
    /// Opened for reading only: tells when all who opened it for writing are gone.
    Fd lifeline(std::string_view name) const {
        ::mkfifo(path(name).c_str(), 0600);
        return Fd{::open(path(name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    }

    std::unique_ptr<HookRunner> abandoned_;  // nobody steps it
};

// How it ends.

TEST_F(HookRunnerTest, ExitZeroIsDelivered) {
    const auto outcome = run(shell("echo done"));
    EXPECT_EQ(outcome.kind, Kind::delivered);
    EXPECT_EQ(outcome.what, "exit 0");
    EXPECT_EQ(outcome.output, "done\n");
}

TEST_F(HookRunnerTest, AnotherExitStatusFailsWithTheLastThingItSaid) {
    const auto outcome = run(shell("echo trying; echo 'no such host' >&2; echo; exit 3"));
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "exit 3: no such host");
    EXPECT_EQ(outcome.output, "trying\nno such host\n\n");
    EXPECT_EQ(run(shell("exit 1")).what, "exit 1");
}

TEST_F(HookRunnerTest, ASignalIsNamed) {
    EXPECT_EQ(run(shell("kill -SEGV $$")).what, "killed by SIGSEGV");
    EXPECT_EQ(run(shell("kill -9 $$")).what, "killed by SIGKILL");
    EXPECT_EQ(run(shell("kill -9 $$")).kind, Kind::failed);
}

TEST_F(HookRunnerTest, AnExitThatSomebodyElseTookIsNotTakenForDelivered) {
    const auto gate = fifo("gate");
    start(shell("read x < gate"));
    ::signal(SIGCHLD, SIG_IGN);
    write_line(gate);
    const auto outcome = finish().at(0).outcome;
    ::signal(SIGCHLD, SIG_DFL);
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "ended, and its exit status was lost");
}

TEST_F(HookRunnerTest, HoldsNothingOnceItHasFinished) {
    const auto before = open_descriptors();
    run(shell("cat; exit 1"));
    run(spec({path("missing")}));
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(runner().next_deadline());
}

// What it is given.

TEST_F(HookRunnerTest, TheEventIsOneLineOnItsInput) {
    EXPECT_EQ(run(spec({"/bin/cat"})).output, rendered().json + "\n");
    EXPECT_EQ(run(shell("read -r line && echo got it")).what, "exit 0");
}

TEST_F(HookRunnerTest, ALargeEventIsReadWholeOrNotAtAll) {
    auto large = rendered();
    large.json = R"({"detail":")" + std::string(200U << 10U, 'x') + "\"}";
    EXPECT_EQ(run(spec({"/usr/bin/wc", "-c"}), large).output,
              fmt::format("{}\n", large.json.size() + 1));
    EXPECT_EQ(run(spec({"/bin/true"}), large).kind, Kind::delivered);
}

TEST_F(HookRunnerTest, AHookCannotChangeTheEventForWhatItStarts) {
    EXPECT_NE(run(shell("echo forged >&0")).kind, Kind::delivered);
}

TEST_F(HookRunnerTest, RunsInItsDirectory) {
    const auto real = std::filesystem::canonical(directory()).string();
    EXPECT_EQ(run(shell("pwd -P")).output, real + "\n");
}

TEST_F(HookRunnerTest, SeesItsEventAndNoneOfOurSecrets) {
    const Variable secret("TEST_API_KEY", "sk-secret");
    const Variable socket("KNELL_SOCKET", "/run/knell.sock");
    const auto outcome = run(spec({"/usr/bin/env"}));
    for (const char* line :
         {"KNELL_EVENT=session:end\n", "KNELL_EVENT_ID=node-7\n", "KNELL_EVENT_SEQ=7\n",
          "KNELL_SESSION_ID=s1\n", "KNELL_SESSION_KEY=agent:main\n", "KNELL_REASON=completed\n"}) {
        EXPECT_THAT(outcome.output, HasSubstr(line));
    }
    EXPECT_THAT(outcome.output, HasSubstr("PATH="));
    EXPECT_THAT(outcome.output, Not(HasSubstr("sk-secret")));
    EXPECT_THAT(outcome.output, Not(HasSubstr("KNELL_SOCKET")));
}

TEST_F(HookRunnerTest, InheritsNoDescriptor) {
    const Fd ours{::open("/dev/null", O_RDONLY)};  // NOLINT: to be inherited if anything is
    // The fourth is the directory that ls itself has open.
    EXPECT_EQ(run(spec({"/bin/ls", "/proc/self/fd"})).output, "0\n1\n2\n3\n");
}

TEST_F(HookRunnerTest, HasDefaultSignalsWhateverOursAre) {
    sigset_t term;
    sigset_t before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &term, &before);
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(run(shell("kill -PIPE $$")).what, "killed by SIGPIPE");
    EXPECT_EQ(run(shell("kill -TERM $$")).what, "killed by SIGTERM");
    ::signal(SIGPIPE, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// What it prints.

TEST_F(HookRunnerTest, AGigabyteOfOutputIsReadAndThrownAway) {
    const auto outcome = run(spec({"/usr/bin/head", "-c", "1G", "/dev/zero"}));
    EXPECT_EQ(outcome.kind, Kind::delivered);
    EXPECT_THAT(outcome.output, SizeIs(limits::hook_output_bytes_max));
}

TEST_F(HookRunnerTest, OneThatPrintsForEverLeavesOthersTheirTurn) {
    const auto noisy = start(spec({"/usr/bin/yes"}));
    start(shell("exit 5"));
    std::vector<Finished> finished;
    while (finished.empty()) {
        wait();
        runner().step(at(0s));
        finished = runner().take_finished();
    }
    EXPECT_EQ(finished.front().outcome.what, "exit 5");
    runner().cancel(noisy);
    EXPECT_THAT(finish(), IsEmpty());
}

TEST_F(HookRunnerTest, MayCloseItsOutputAndGoOn) {
    const auto gate = fifo("gate");
    start(shell("exec >&- 2>&-; read x < gate; exit 3"));
    std::vector<pollfd> descriptors;
    while (descriptors.size() != 1) {
        wait();
        runner().step(at(0s));
        descriptors.clear();
        runner().add_descriptors(descriptors);
    }
    EXPECT_EQ(runner().running(), 1U);  // only its end is waited for, so nothing spins
    write_line(gate);
    EXPECT_EQ(finish().at(0).outcome.what, "exit 3");
}

// What it leaves behind.

TEST_F(HookRunnerTest, ADaemonThatKeepsTheOutputOpenHoldsNobodyUp) {
    const auto up = fifo("up");
    const auto gate = fifo("gate");
    const auto bye = fifo("bye");
    start(shell("setsid sh -c 'echo > up; read x < gate; echo still here > bye' & read x < up"));
    EXPECT_EQ(finish().at(0).outcome.kind, Kind::delivered);
    write_line(gate);
    EXPECT_EQ(read_line(bye), "still here");
}

TEST_F(HookRunnerTest, WhatHasLeftItsGroupAsTheManualSaysLivesOn) {
    const auto gate = fifo("gate");
    const auto bye = fifo("bye");
    start(shell("setsid -f sh -c 'exec > log 2>&1; read x < gate; echo still here > bye' | cat"));
    EXPECT_EQ(finish().at(0).outcome.kind, Kind::delivered);
    write_line(gate);
    EXPECT_EQ(read_line(bye), "still here");
}

TEST_F(HookRunnerTest, WhatItLeavesInItsGroupIsKilled) {
    const auto line = lifeline("line");
    EXPECT_EQ(run(shell("exec 3> line; sleep 1000 & exit 0")).kind, Kind::delivered);
    EXPECT_TRUE(is_let_go(line));
}

// Its time.

TEST_F(HookRunnerTest, IsAskedToEndWhenItsTimeIsOver) {
    auto hook = shell("trap 'echo cleaning up; exit 0' TERM; echo ready; sleep 1000 & wait");
    hook.timeout = 1s;
    start(hook);
    EXPECT_EQ(runner().next_deadline(), at(1s));
    wait();
    runner().step(at(1s));
    EXPECT_EQ(runner().next_deadline(), at(3s));
    const auto outcome = finish(at(1s)).at(0).outcome;
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "timed out after 1 s");
    EXPECT_EQ(outcome.output, "ready\ncleaning up\n");
}

TEST_F(HookRunnerTest, IsKilledWhenItDoesNotEndThen) {
    const auto line = lifeline("line");
    auto hook = shell("exec 3> line; trap '' TERM; echo ready; sleep 1000; echo woken; sleep 1000");
    hook.timeout = 60s;
    start(hook);
    wait();
    runner().step(at(60s));
    runner().step(at(61s));
    EXPECT_EQ(runner().running(), 1U);
    runner().step(at(62s));
    EXPECT_EQ(runner().running(), 0U);
    const auto outcome = finish(at(62s)).at(0).outcome;
    EXPECT_EQ(outcome.what, "timed out after 60 s");
    EXPECT_EQ(outcome.output, "ready\n");
    EXPECT_TRUE(is_let_go(line));
}

TEST_F(HookRunnerTest, OneThatMadeItMadeItHoweverLateWeLook) {
    start(spec({"/bin/true"}));
    std::vector<pollfd> descriptors;
    runner().add_descriptors(descriptors);
    ASSERT_EQ(::poll(descriptors.data(), 1, 20'000), 1);  // its pidfd
    EXPECT_EQ(finish(at(24h)).at(0).outcome.kind, Kind::delivered);
}

// What cannot be run.

TEST_F(HookRunnerTest, SaysWhyAProgramCannotBeRun) {
    EXPECT_EQ(run(spec({path("missing")})).what,
              fmt::format("cannot run {}: is not there", path("missing")));

    const auto plain = write("plain", "#!/bin/sh\n");
    ::chmod(plain.c_str(), 0600);
    EXPECT_EQ(run(spec({plain})).what,
              fmt::format("cannot run {}: not executable: chmod +x it", plain));

    const auto script = write("script", "echo hello\n");
    EXPECT_EQ(run(spec({script})).what,
              fmt::format("cannot run {}: not a program: no #! line", script));

    const auto lost = write("lost", "#!/opt/no/such/interpreter\n");
    EXPECT_EQ(
        run(spec({lost})).what,
        fmt::format("cannot run {}: the interpreter that its #! line names is not there", lost));

    auto homeless = spec({"/bin/true"});
    homeless.directory = path("nowhere");
    EXPECT_EQ(run(homeless).what,
              fmt::format("cannot run /bin/true: {}: is not there", path("nowhere")));
}

// Whom it can be taken for.

TEST_F(HookRunnerTest, AProgramThatOthersCouldSwapSinceItWasReadIsNotRun) {
    std::filesystem::create_directory(path("tools"));
    const auto hook = spec({write("tools/run", "#!/bin/sh\necho ran\n")});
    EXPECT_EQ(run(hook).output, "ran\n");

    ::chmod(path("tools").c_str(), 0777);

    const auto outcome = run(hook);
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.what, HasSubstr("anybody could change " + path("tools")));
}

TEST_F(HookRunnerTest, NorIsOneWhoseInterpreterOthersCouldSwap) {
    std::filesystem::create_directory(path("tools"));
    std::filesystem::copy_file("/bin/sh", path("tools/sh"));
    const auto hook = spec({write("run", "#!" + path("tools/sh") + "\necho ran\n")});
    EXPECT_EQ(run(hook).output, "ran\n");

    ::chmod(path("tools").c_str(), 0777);

    EXPECT_EQ(run(hook).what,
              fmt::format("cannot run {}: {}: anybody could change {}, which it is in: chmod o-w "
                          "{}",
                          path("run"), path("tools/sh"), path("tools"), path("tools")));
}

TEST_F(HookRunnerTest, NorIsOneWhoseInterpreterIsFoundByEnvAndOthersCouldChangeIt) {
    std::filesystem::create_directory(path("tools"));
    std::filesystem::copy_file("/bin/sh", path("tools/mysh"));
    const auto hook = spec({write("run", "#!/usr/bin/env -S A=b mysh -e\necho ran $A\n")});
    const std::string before = ::getenv("PATH");
    ::setenv("PATH", (path("none") + ":" + path("tools") + ":" + before).c_str(), 1);

    EXPECT_EQ(run(hook).output, "ran b\n");
    ::chmod(path("tools/mysh").c_str(), 0777);
    const auto refused = run(hook);

    ::setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(refused.what, fmt::format("cannot run {}: {}: anybody could change it: chmod o-w {}",
                                        path("run"), path("tools/mysh"), path("tools/mysh")));
}

TEST_F(HookRunnerTest, NorIsAHandlerThatOthersCouldChange) {
    const auto hook = python_handler("def handle(event_type, context): print('ran')\n");
    EXPECT_EQ(run(hook).output, "ran\n");

    ::chmod(path("handler.py").c_str(), 0666);

    EXPECT_THAT(run(hook).what, HasSubstr("anybody could change it"));
}

TEST_F(HookRunnerTest, DoesNotFindProgramsOfOthersInItsPath) {
    std::filesystem::create_directory(path("shared"));
    ::chmod(path("shared").c_str(), 0777);
    write("shared/python3", "#!/bin/sh\necho of somebody else\n");
    const std::string before = ::getenv("PATH");
    ::setenv("PATH", (path("shared") + ":" + before).c_str(), 1);

    const auto handled = run(python_handler("def handle(event_type, context): print('ours')\n"));
    const auto found = run(shell("echo $PATH"));

    ::setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(handled.output, "ours\n");
    EXPECT_THAT(found.output, Not(HasSubstr("shared")));
}

TEST_F(HookRunnerTest, IsCalledByItsPath) {
    const auto script = write("run", "#!/bin/sh\necho \"$0 $1\"\n");
    EXPECT_EQ(run(spec({script, "word"})).output, script + " word\n");
    EXPECT_EQ(run(spec({"/bin/sh", "-c", "echo $0"})).output, "/bin/sh\n");
}

TEST_F(HookRunnerTest, DiesWithTheThreadThatRunsIt) {
    const auto line = lifeline("line");
    const auto up = fifo("up");
    std::thread([&] {
        HookRunner other("node");
        other.start(1, shell("exec 3> line; echo > up; exec sleep 1000"),
                    std::make_shared<const RenderedEvent>(rendered()), at(0s));
        EXPECT_EQ(read_line(up), "");
        abandoned_ = std::make_unique<HookRunner>(std::move(other));
    }).join();
    EXPECT_TRUE(is_let_go(line));
}

// Many, and no more.

TEST_F(HookRunnerTest, TwoHundredRunAtOnce) {
    const auto before = open_descriptors();
    const auto gate = fifo("gate");
    for (int i = 0; i < 200; ++i) start(shell("cat; read x < gate"));
    EXPECT_EQ(runner().running(), 200U);
    for (int i = 0; i < 200; ++i) write_line(gate);
    const auto finished = finish();
    EXPECT_THAT(finished, SizeIs(200));
    for (const auto& one : finished) {
        EXPECT_EQ(one.outcome.kind, Kind::delivered) << one.attempt << ": " << one.outcome.what;
        EXPECT_EQ(one.outcome.output, rendered().json + "\n");
    }
    EXPECT_EQ(open_descriptors(), before + 1);  // the gate
}

TEST_F(HookRunnerTest, ACancelledOneIsKilledAndHasNoOutcome) {
    const auto line = lifeline("line");
    const auto attempt = start(shell("exec 3> line; echo ready; sleep 1000"));
    const auto failed = start(spec({path("missing")}));
    wait();
    runner().cancel(attempt);
    runner().cancel(failed);
    runner().cancel(12345);
    EXPECT_EQ(runner().running(), 0U);
    EXPECT_THAT(finish(), IsEmpty());
    EXPECT_TRUE(is_let_go(line));
}

TEST_F(HookRunnerTest, AllCanBeCancelled) {
    for (int i = 0; i < 20; ++i) start(shell("trap '' TERM; sleep 1000"));
    runner().cancel_all();
    EXPECT_EQ(runner().running(), 0U);
    EXPECT_THAT(finish(), IsEmpty());
}

}  // namespace
}  // namespace knell
