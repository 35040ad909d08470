#include "platform/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/small_file.hpp"
#include "testing/pipe.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Pipe;
using testing::with_refused_calls;
using Group = ChildSpec::Group;

ChildSpec shell(std::string script) {
    return {.program = ProgramAt{"/bin/sh"}, .argv = {"sh", "-c", std::move(script)}};
}

int reap(const Spawned& child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
    return status;
}

/// What it prints, once it is gone.
std::string output_of(ChildSpec spec) {
    Pipe out;
    spec.descriptors.push_back({out.writer.get(), STDOUT_FILENO});
    const auto child = spawn(std::move(spec));
    EXPECT_TRUE(child);
    if (!child) return {};
    auto text = out.text();
    EXPECT_EQ(reap(*child), 0);
    return text;
}

/// Of this thread alone: others of the process may have some.
std::string children_of_thread() {
    return read_small_file("/proc/thread-self/children").value_or("cannot be read");
}

TEST(Spawn, FindsAProgramInThreeWays) {
    EXPECT_EQ(output_of(shell("echo by path")), "by path\n");
    EXPECT_EQ(output_of({.program = ProgramOnPath{"echo"}, .argv = {"echo", "on the PATH"}}),
              "on the PATH\n");
    const Fd directory{::open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    EXPECT_EQ(output_of({.program = ProgramIn{directory.get(), "echo"}, .argv = {"echo", "in"}}),
              "in\n");
}

TEST(Spawn, AProgramInADirectoryIsNotReachedThroughALink) {
    const testing::TempFolder folder;
    ASSERT_EQ(::symlink("/bin/echo", (folder.path() + "/link").c_str()), 0);
    const Fd directory{::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const auto child = spawn({.program = ProgramIn{directory.get(), "link"}, .argv = {"link"}});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().step, SpawnStep::program);
    EXPECT_EQ(child.error().error, ELOOP);
}

TEST(Spawn, HasTheEnvironmentThatItIsGivenOrOurs) {
    ::setenv("KNELL_SPAWN_TEST", "ours", 1);
    EXPECT_EQ(output_of(shell("echo $KNELL_SPAWN_TEST")), "ours\n");
    auto given = shell("echo $KNELL_SPAWN_TEST$A");
    given.environment = {"A=given"};
    EXPECT_EQ(output_of(given), "given\n");
    ::unsetenv("KNELL_SPAWN_TEST");
}

TEST(Spawn, PutsItsPidBehindAVariable) {
    auto spec = shell("echo $COOKIE $(printf 'cookie:%010d' $$)");
    spec.environment = {"A=b"};
    spec.pid_variable = "COOKIE=cookie:";
    const auto said = output_of(spec);
    EXPECT_EQ(said.substr(0, said.find(' ')), said.substr(said.find(' ') + 1, said.find(' ')));
    EXPECT_THAT(said, Not(HasSubstr("cookie:0000000000")));
}

TEST(Spawn, OneDescriptorMayStandWhereAnotherIsPut) {
    Pipe one;
    Pipe two;
    const int first = one.writer.get();
    const int second = two.writer.get();
    auto spec = shell(fmt::format("echo of one > /proc/self/fd/{}; echo of two > /proc/self/fd/{}",
                                  second, first));
    spec.descriptors = {{first, second}, {second, first}};
    const auto child = spawn(spec);
    ASSERT_TRUE(child);
    EXPECT_EQ(one.text(), "of one\n");
    EXPECT_EQ(two.text(), "of two\n");
    EXPECT_EQ(reap(*child), 0);
}

TEST(Spawn, HasNoOtherDescriptorsWhereItIsToHaveNone) {
    const Fd ours{::open("/dev/null", O_RDONLY)};  // NOLINT: to be inherited
    const Fd given{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    const auto look = [&](bool closes_others) {
        ChildSpec spec{.program = ProgramAt{"/bin/ls"}, .argv = {"ls", "/proc/self/fd"}};
        spec.descriptors = {{given.get(), 99}};
        spec.null_descriptors = {STDIN_FILENO, STDERR_FILENO};
        spec.closes_others = closes_others;
        return output_of(spec);
    };
    EXPECT_THAT(look(false), HasSubstr(fmt::format("\n{}\n", ours.get())));
    EXPECT_EQ(look(true), "0\n1\n2\n3\n99\n");  // 3 is the folder that it reads
    with_refused_calls({SYS_close_range}, ENOSYS,
                       [&] { EXPECT_EQ(look(true), "0\n1\n2\n3\n99\n"); });
}

TEST(Spawn, ANumberMayBeNull) {
    auto spec = shell("readlink /proc/self/fd/0 /proc/self/fd/7");
    spec.null_descriptors = {STDIN_FILENO, 7};
    EXPECT_EQ(output_of(spec), "/dev/null\n/dev/null\n");
}

TEST(Spawn, GoesOnWithoutANullDevice) {
    with_refused_calls({SYS_openat}, ENOENT, [&] {
        const auto child = spawn({.program = ProgramAt{"/nonexistent"},
                                  .argv = {"nonexistent"},
                                  .null_descriptors = {STDIN_FILENO}});
        ASSERT_FALSE(child);
        EXPECT_EQ(child.error().step, SpawnStep::program);
    });
}

TEST(Spawn, WorksWhereTheStandardDescriptorsAreClosed) {
    const Fd before{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
    ::close(STDIN_FILENO);
    Pipe in;  // one end of it is 0
    ASSERT_EQ(::write(in.writer.get(), "hello\n", 6), 6);
    in.writer.reset();
    auto spec = shell("cat");
    spec.descriptors = {{in.reader.get(), STDIN_FILENO}};
    const auto said = output_of(spec);
    in.reader.reset();
    // The pipe that tells of a failure is given that number now.
    spec = {.program = ProgramAt{"/nonexistent"}, .argv = {"nonexistent"}};
    spec.null_descriptors = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    const auto child = spawn(spec);
    ::dup2(before.get(), STDIN_FILENO);
    EXPECT_EQ(said, "hello\n");
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().step, SpawnStep::program);
    EXPECT_EQ(child.error().error, ENOENT);
}

TEST(Spawn, IsInTheGroupThatItShallBeIn) {
    for (const auto group : {Group::inherited, Group::own, Group::own_session}) {
        auto spec = shell("exec sleep 1000");
        spec.group = group;
        const auto child = spawn(spec);
        ASSERT_TRUE(child);
        EXPECT_EQ(::getpgid(child->pid), group == Group::inherited ? ::getpgrp() : child->pid);
        EXPECT_EQ(::getsid(child->pid),
                  group == Group::own_session ? child->pid : ::getsid(::getpid()));
        ::kill(child->pid, SIGKILL);
        EXPECT_EQ(reap(*child), SIGKILL);
    }
}

TEST(Spawn, RunsWhereItShallAndWithTheUmaskThatItShallHave) {
    const Fd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    auto spec = shell("pwd; umask");
    spec.directory = root.get();
    spec.umask = 0077;
    EXPECT_EQ(output_of(spec), "/\n0077\n");
    spec.directory_path = "proc";
    EXPECT_EQ(output_of(spec), "/proc\n0077\n") << "the path is looked up in the directory";
}

TEST(Spawn, HasTheDefaultSignalsWhateverOursAre) {
    ::signal(SIGUSR1, SIG_IGN);
    sigset_t blocked;
    sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const auto said = output_of(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
    sigset_t after;
    ::pthread_sigmask(SIG_SETMASK, &before, &after);
    ::signal(SIGUSR1, SIG_DFL);
    EXPECT_EQ(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    EXPECT_EQ(::sigismember(&after, SIGUSR2), 1);
    EXPECT_EQ(::sigismember(&after, SIGUSR1), 0) << "ours are as they were";
}

TEST(Spawn, HasTheUsualLimitsWhereItShall) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_STACK, &before), 0);
    auto lower = before;
    lower.rlim_cur = 4U << 20U;
    ASSERT_EQ(::setrlimit(RLIMIT_STACK, &lower), 0);
    auto spec = shell("ulimit -s");
    const auto inherited = output_of(spec);
    spec.resets_limits = true;
    const auto reset = output_of(spec);
    ::setrlimit(RLIMIT_STACK, &before);
    EXPECT_EQ(inherited, "4096\n");
    EXPECT_EQ(reset, "8192\n");
}

struct Refused {
    const char* name;
    long call;
    SpawnStep step;
    std::function<void(ChildSpec&)> change = [](ChildSpec&) {};
};

TEST(Spawn, EveryCallThatIsRefusedIsNamedAndLeavesNoProcess) {
    const Fd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const Fd bin{::open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const auto in_group = [](Group group) {
        return [group](ChildSpec& spec) { spec.group = group; };
    };
    const std::array all{
#ifndef KNELL_NEEDS_DESCRIPTORS  // nor does the sanitizer do without its signals
        Refused{"pipe", SYS_pipe2, SpawnStep::descriptors},
        Refused{"signals", SYS_rt_sigprocmask, SpawnStep::signals},
#endif
        Refused{"its number", SYS_fcntl, SpawnStep::descriptors},
        Refused{"vfork", SYS_vfork, SpawnStep::fork},
        Refused{"group", SYS_setpgid, SpawnStep::group, in_group(Group::own)},
        Refused{"session", SYS_setsid, SpawnStep::group, in_group(Group::own_session)},
        Refused{"death signal", SYS_prctl, SpawnStep::death_signal,
                [](ChildSpec& spec) { spec.death_signal = SIGKILL; }},
        Refused{"open directory", SYS_fchdir, SpawnStep::directory,
                [&](ChildSpec& spec) { spec.directory = root.get(); }},
        Refused{"directory", SYS_chdir, SpawnStep::directory,
                [](ChildSpec& spec) { spec.directory_path = "/"; }},
        Refused{"placing", SYS_dup2, SpawnStep::descriptors,
                [&](ChildSpec& spec) { spec.descriptors = {{root.get(), 5}}; }},
        Refused{"execve", SYS_execve, SpawnStep::program},
        Refused{"execve on the PATH", SYS_execve, SpawnStep::program,
                [](ChildSpec& spec) { spec.program = ProgramOnPath{"sh"}; }},
        Refused{"execveat", SYS_execveat, SpawnStep::program,
                [&](ChildSpec& spec) { spec.program = ProgramIn{bin.get(), "sh"}; }},
        Refused{"pidfd", SYS_pidfd_open, SpawnStep::pidfd},
        Refused{"pidfd of a leader", SYS_pidfd_open, SpawnStep::pidfd, in_group(Group::own)},
    };
    for (const auto& refused : all) {
        with_refused_calls({refused.call}, EPERM, [&] {
            auto spec = shell("exec sleep 1000");
            refused.change(spec);
            const auto child = spawn(spec);
            ASSERT_FALSE(child) << refused.name;
            EXPECT_EQ(child.error().step, refused.step) << refused.name;
            EXPECT_EQ(child.error().error, EPERM) << refused.name;
            EXPECT_EQ(children_of_thread(), "") << refused.name;
        });
    }
}

TEST(Spawn, ADescriptorThatIsNoneIsNamed) {
    for (const int none : {-1, 1'000'000}) {
        auto spec = shell("true");
        spec.descriptors = {{none, STDIN_FILENO}};
        const auto child = spawn(spec);
        ASSERT_FALSE(child);
        EXPECT_EQ(child.error().step, SpawnStep::descriptors);
        EXPECT_EQ(child.error().error, EBADF);
    }
}

TEST(Spawn, OneThatSomebodyElseHasReapedIsNotSignalled) {
    Pipe out;
    with_refused_calls({SYS_pidfd_open, SYS_waitid}, ECHILD, [&] {
        auto spec = shell("read line; echo it lives");
        Pipe in;
        spec.descriptors = {{in.reader.get(), STDIN_FILENO}, {out.writer.get(), STDOUT_FILENO}};
        const auto child = spawn(spec);
        ASSERT_FALSE(child);
        EXPECT_EQ(child.error().step, SpawnStep::pidfd);
        in.writer.reset();
        EXPECT_EQ(out.text(), "it lives\n") << "its number may be another's by then";
        const auto pid = static_cast<pid_t>(std::stol(children_of_thread()));
        EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    });
}

}  // namespace
}  // namespace knell
