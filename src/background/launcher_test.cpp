#include "background/launcher.hpp"

#include <cerrno>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "background/children.hpp"
#include "platform/small_file.hpp"
#include "testing/fake_processes.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Launch : public ::testing::Test {
  protected:
    LaunchOrder order(std::vector<std::string> argv) const {
        return {.id = id,
                .session_id = SessionId("s"),
                .argv = std::move(argv),
                .cwd = home.path(),
                .environment = {"PATH=/usr/bin:/bin", "A=1"},
                .socket = "/run/knell.sock"};
    }
    void hold(std::vector<std::string> argv) {
        auto launched = launch(order(argv), *outputs, table, unreaped);
        if (!launched) throw std::runtime_error(launched.error().message);
        process = launched->process;
        children.hold(id, std::move(*launched), argv.front());
    }
    /// Its end is not taken notice of.
    void await_end() const {
        siginfo_t ended{};
        ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid), &ended, WEXITED | WNOWAIT), 0);
    }
    bool is_reaped() const {
        return ::waitid(P_PID, static_cast<id_t>(process.pid), nullptr,
                        WEXITED | WNOWAIT | WNOHANG) != 0 &&
               errno == ECHILD;
    }
    void await_reaped() {
        for (int i = 0; i < 5000 && !is_reaped(); ++i) {
            ::poll(nullptr, 0, 1);
            children.step();
        }
        EXPECT_TRUE(is_reaped());
        EXPECT_FALSE(children.has_unreaped());
    }
    std::string output() {
        const auto read = outputs->read(id, 0, 1 << 20);
        return read ? read->bytes : read.error().message;
    }
    Error refusal(const LaunchOrder& wrong) {
        auto launched = launch(wrong, *outputs, table, unreaped);
        if (launched) throw std::runtime_error("it was started");
        EXPECT_THAT(outputs->list(), IsEmpty()) << "nothing is left of it";
        return launched.error();
    }
    std::string write_script(const std::string& name, std::string_view text, mode_t mode) const {
        const auto path = home.path() + "/" + name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), mode);
        return path;
    }

    testing::TempFolder home;
    testing::TempFolder state;
    std::unique_ptr<OutputFiles> outputs = *OutputFiles::open(state.path() + "/processes");
    ProcTable table;
    Children children;
    const ProcessId id = ProcessId::from_bits(1);
    ProcessIdentity process;
    pid_t unreaped = 0;
};

TEST_F(Launch, RunsWhenItIsLetGoAndNotBefore) {
    hold({"sh", "-c",
          "echo $KNELL_SESSION_ID $KNELL_GENERATION $KNELL_SOCKET $KNELL_PROCESS_ID $A; echo err "
          ">&2; pwd; cat; exit 3"});
    EXPECT_EQ(table.identify(process.pid), process);
    EXPECT_EQ(output(), "");
    EXPECT_TRUE(children.let_go(id, 7));
    EXPECT_FALSE(children.let_go(id, 7)) << "once";
    await_end();
    EXPECT_EQ(output(), fmt::format("s 7 /run/knell.sock {} 1\nerr\n{}\n", id.text(), home.path()));
    EXPECT_EQ(children.why_never_ran(process), "");
    children.step();
    EXPECT_FALSE(is_reaped()) << "its exit is not on record yet";
    EXPECT_EQ(children.count(), 1U);
    children.forget(id);
    EXPECT_TRUE(is_reaped());
    EXPECT_EQ(children.count(), 0U);
}

TEST_F(Launch, OneThatIsRefusedNeverRuns) {
    hold({"sh", "-c", "echo it ran"});
    children.refuse(id);
    await_reaped();
    EXPECT_EQ(output(), "");
    EXPECT_FALSE(children.let_go(id, 1));
}

TEST_F(Launch, LeadsASessionAndHasNothingOfOurs) {
    const Fd ours{::open("/dev/null", O_RDONLY)};  // NOLINT: it would be inherited
    hold({"sh", "-c", "ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0"});
    EXPECT_EQ(::getsid(process.pid), process.pid);
    children.let_go(id, 1);
    await_end();
    EXPECT_THAT(output(), HasSubstr("0 1 2 3 /dev/null"));
    children.forget(id);
}

TEST_F(Launch, AReportIsWaitedForOnlyUntilTheProgramRuns) {
    hold({"sleep", "1000"});
    std::vector<pollfd> waited;
    children.add_descriptors(waited);
    EXPECT_THAT(waited, IsEmpty());
    children.let_go(id, 1);
    children.add_descriptors(waited);
    ASSERT_EQ(waited.size(), 1U);
    ASSERT_EQ(::poll(waited.data(), 1, -1), 1);
    children.step();
    waited.clear();
    children.add_descriptors(waited);
    EXPECT_THAT(waited, IsEmpty());
    ::kill(process.pid, SIGKILL);
    children.forget(id);
    await_reaped();
}

TEST_F(Launch, AProgramThatCannotBeExecutedAfterAllIsToldOf) {
    write_script("script", "#!/no/such/interpreter\n", 0700);
    hold({"./script"});
    children.let_go(id, 1);
    await_end();
    EXPECT_EQ(children.why_never_ran(process),
              "./script could not be executed: it, or the interpreter its #! line names, is not "
              "there");
    auto stranger = process;
    stranger.start_ticks += 1;
    EXPECT_EQ(children.why_never_ran(stranger), "");
    stranger.pid += 1;
    EXPECT_EQ(children.why_never_ran(stranger), "");
    children.forget(id);
    children.forget(id);  // said twice
    EXPECT_TRUE(is_reaped());
}

TEST_F(Launch, WhatIsNoProgramIsToldOfToo) {
    write_script("text", "just text\n", 0700);
    hold({"./text"});
    children.let_go(id, 1);
    await_end();
    children.step();  // read before it was asked for
    EXPECT_EQ(children.why_never_ran(process),
              "./text could not be executed: not a program, and no #! line");
    children.forget(id);
    EXPECT_EQ(why_not_executed({SpawnStep::program, E2BIG}, "x"),
              "x could not be executed: Argument list too long");
}

TEST_F(Launch, WhatIsWrongWithTheOrderNamesItsField) {
    auto nowhere = order({"true"});
    nowhere.cwd = "/nowhere/at/all";
    EXPECT_EQ(refusal(nowhere).message,
              "cwd: cannot run in /nowhere/at/all: No such file or directory");
    EXPECT_EQ(refusal(nowhere).field, "cwd");
    nowhere.cwd = "/bin/true";
    EXPECT_EQ(refusal(nowhere).message, "cwd: /bin/true is not a directory");
    EXPECT_EQ(refusal(order({"no-such-program"})).message,
              "argv: the program no-such-program is not in the PATH of the process; install it, or "
              "say where it is");
    EXPECT_EQ(refusal(order({"no-such-program"})).field, "argv");
    EXPECT_EQ(refusal(order({"/no/such"})).message, "argv: there is no program /no/such");
    EXPECT_EQ(refusal(order({"/tmp"})).message, "argv: /tmp is a directory, not a program");
    EXPECT_EQ(refusal(order({"/dev/null"})).message,
              "argv: /dev/null is no file that can be executed");
    EXPECT_EQ(refusal(order({"./such"})).message,
              fmt::format("argv: there is no program {}/./such", home.path()));
    EXPECT_EQ(refusal(order({""})).message, "argv: its first word, the program, is empty");
    const auto script = write_script("script", "#!/bin/sh\n", 0600);
    EXPECT_EQ(refusal(order({script})).message,
              fmt::format("argv: {} is not executable; chmod +x it", script));
    auto on_path = order({"script"});
    on_path.environment = {"PATH=/nowhere:" + home.path()};
    EXPECT_EQ(refusal(on_path).message,
              fmt::format("argv: {} is not executable; chmod +x it", script));
}

TEST_F(Launch, ProgramsAreFoundByThePathOfTheProcess) {
    const auto script = write_script("mine", "#!/bin/sh\n", 0700);
    EXPECT_EQ(find_program("mine", "/", {"PATH=/bin:" + home.path()}), script);
    EXPECT_EQ(find_program("mine", home.path(), {"PATH=/bin:"}).error().field, "argv")
        << "an empty rest of the list is none";
    EXPECT_EQ(find_program("mine", home.path(), {"PATH=:/bin"}), home.path() + "/./mine");
    EXPECT_EQ(find_program("true", "/", {}), "/usr/bin/true");
    EXPECT_EQ(find_program("true", "/", {"PATH=/nowhere", "PATH=/bin"}), "/bin/true");
    EXPECT_EQ(find_program("bin/true", "/", {}), "/bin/true");
}

TEST_F(Launch, OfSeveralValuesTheLastCounts) {
    EXPECT_THAT(without_doubles({"A=1", "B=2", "A=3", "C"}), ElementsAre("B=2", "A=3", "C"));
}

TEST_F(Launch, NobodyCanGiveItAnotherCookie) {
    auto wanted = order({"sh", "-c", "env | grep KNELL | sort"});
    wanted.environment = {"PATH=/usr/bin:/bin", "KNELL_SESSION_ID=x", "KNELL_PROCESS_ID=x",
                          "KNELL_SOCKET=x", "KNELL_GENERATION=x"};
    auto launched = launch(wanted, *outputs, table, unreaped);
    ASSERT_TRUE(launched);
    process = launched->process;
    children.hold(id, std::move(*launched), "sh");
    children.let_go(id, 2);
    await_end();
    EXPECT_EQ(output(), fmt::format("KNELL_GENERATION=2\nKNELL_PROCESS_ID={}\nKNELL_SESSION_ID=s\n"
                                    "KNELL_SOCKET=/run/knell.sock\n",
                                    id.text()));
    children.forget(id);
}

TEST_F(Launch, WhatTheSystemIsShortOfIsALimit) {
    for (const auto& calls : {std::vector<long>{SYS_clone, SYS_clone3}, {SYS_socketpair}}) {
        testing::with_refused_calls(calls, EAGAIN, [&] {
            const auto error = refusal(order({"true"}));
            EXPECT_EQ(error.code, ErrorCode::limit);
            EXPECT_THAT(error.message, HasSubstr("cannot start a process for now: the daemon's "
                                                 "user has as many processes as it may"));
            EXPECT_THAT(error.message, HasSubstr("ulimit -u"));
        });
    }
    for (const auto& [shortage, words] :
         {std::pair{EMFILE, "ulimit -n"}, {ENFILE, "fs.file-max"}, {ENOMEM, "memory"}}) {
        testing::with_refused_calls({SYS_socketpair}, shortage, [&] {
            const auto error = refusal(order({"true"}));
            EXPECT_EQ(error.code, ErrorCode::limit);
            EXPECT_THAT(error.message, HasSubstr(words));
        });
    }
    testing::with_refused_calls({SYS_setsid}, EPERM, [&] {
        EXPECT_EQ(refusal(order({"true"})).message,
                  "cannot start a process: Operation not permitted");
    });
    testing::with_refused_calls({SYS_chdir}, EACCES, [&] {
        EXPECT_EQ(refusal(order({"true"})).message,
                  fmt::format("cwd: cannot run in {}: Permission denied", home.path()));
    });
}

TEST_F(Launch, AnOutputThatIsInTheWayIsNotTouched) {
    ASSERT_TRUE(outputs->create(id));
    const auto again = launch(order({"true"}), *outputs, table, unreaped);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::blocked);
    EXPECT_THAT(outputs->list(), ElementsAre(id));
}

TEST_F(Launch, OneThatCannotBeIdentifiedIsNotStarted) {
    const testing::FakeProcesses blind;
    const auto launched = launch(order({"true"}), *outputs, blind, unreaped);
    ASSERT_FALSE(launched);
    EXPECT_NE(unreaped, 0);
    children.reap_later(unreaped);
    process.pid = unreaped;
    await_reaped();
    EXPECT_THAT(outputs->list(), IsEmpty());
}

}  // namespace
}  // namespace knell
