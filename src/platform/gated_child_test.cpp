#include "platform/gated_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"
#include "testing/pipe.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::Pipe;

ChildSpec shell(std::string script) {
    return {.program = ProgramAt{"/bin/sh"},
            .argv = {"sh", "-c", std::move(script)},
            .environment = std::vector<std::string>{"PATH=/usr/bin:/bin"},
            .group = ChildSpec::Group::own_session};
}

GatedChild must_start(ChildSpec spec) {
    auto child = GatedChild::start(std::move(spec), 10s);
    if (!child) throw std::runtime_error("it did not start");
    return std::move(*child);
}

int status_of(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
}

/// What it told, once it is known.
GatedChild::Told await(GatedChild& child) {
    pollfd look{.fd = child.report(), .events = POLLIN, .revents = 0};
    ::poll(&look, 1, -1);
    return child.look();
}

TEST(GatedChild, WaitsAndThenRunsOnce) {
    Pipe out;
    auto spec = shell("echo generation $GENERATION of $$");
    spec.descriptors = {{out.writer.get(), STDOUT_FILENO}};
    spec.late_variable = "GENERATION";
    auto child = must_start(std::move(spec));
    // Its own session from the first moment, and still our program.
    EXPECT_EQ(::getsid(child.pid()), child.pid());
    EXPECT_TRUE(read_proc_stat(child.pid())->is_forked_copy);
    EXPECT_FALSE(child.look().is_over) << "nothing is known of a program that may yet be run";
    child.open("42");
    const auto told = await(child);
    EXPECT_TRUE(told.is_over);
    EXPECT_FALSE(told.failure);
    EXPECT_TRUE(child.look().is_over) << "also when it is asked again";
    EXPECT_EQ(out.text(), fmt::format("generation 42 of {}\n", child.pid()));
    EXPECT_EQ(status_of(child.pid()), 0);
}

TEST(GatedChild, LeavesWithoutHavingRunWhenTheGateCloses) {
    Pipe out;
    pid_t pid = 0;
    {
        auto spec = shell("echo it ran");
        spec.descriptors = {{out.writer.get(), STDOUT_FILENO}};
        pid = must_start(std::move(spec)).pid();
    }
    EXPECT_EQ(WEXITSTATUS(status_of(pid)), 125);
    EXPECT_EQ(out.text(), "");
}

TEST(GatedChild, HoldsNoOtherChildsGateNorAnythingElseOfOurs) {
    for (const bool has_close_range : {true, false}) {
        Pipe ours;
        std::optional<GatedChild> first;
        std::optional<GatedChild> second;
        const auto start = [&] {
            first = must_start(shell("exit 3"));
            second = must_start(shell("exit 4"));
        };
        if (has_close_range) {
            start();
        } else {
            testing::with_refused_calls({SYS_close_range}, ENOSYS, start);
        }
        const auto pid = first->pid();
        first.reset();  // while the second waits
        EXPECT_EQ(WEXITSTATUS(status_of(pid)), 125);
        ours.writer.reset();
        char byte = 0;
        EXPECT_EQ(::read(ours.reader.get(), &byte, 1), 0) << "nobody else can write to it";
        second->open("");
        EXPECT_EQ(WEXITSTATUS(status_of(second->pid())), 4);
    }
}

TEST(GatedChild, TellsWhyItsProgramCannotBeExecuted) {
    auto spec = shell("");
    spec.program = ProgramAt{"/nowhere/at/all"};
    auto child = must_start(std::move(spec));
    child.open("");
    const auto told = await(child);
    EXPECT_TRUE(told.is_over);
    ASSERT_TRUE(told.failure);
    EXPECT_EQ(told.failure->step, SpawnStep::program);
    EXPECT_EQ(told.failure->error, ENOENT);
    EXPECT_EQ(WEXITSTATUS(status_of(child.pid())), 126);
}

TEST(GatedChild, WhatCanFailBeforeTheGateFailsAtOnceAndLeavesNoProcess) {
    auto spec = shell("");
    spec.directory_path = "/nowhere/at/all";
    const auto child = GatedChild::start(std::move(spec), 10s);
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().what.step, SpawnStep::directory);
    EXPECT_EQ(child.error().what.error, ENOENT);
    EXPECT_EQ(child.error().unreaped, 0);
}

TEST(GatedChild, WhatTheKernelRefusesIsNamed) {
    for (const auto& [calls, step] :
         {std::pair{std::vector<long>{SYS_socketpair}, SpawnStep::descriptors},
          {{SYS_clone, SYS_clone3}, SpawnStep::fork},
          {{SYS_setsid}, SpawnStep::group}}) {
        testing::with_refused_calls(calls, EAGAIN, [&, expected = step] {
            const auto child = GatedChild::start(shell(""), 10s);
            ASSERT_FALSE(child);
            EXPECT_EQ(child.error().what.step, expected);
            EXPECT_EQ(child.error().what.error, EAGAIN);
        });
    }
}

TEST(GatedChild, OneThatHangsBeforeTheGateIsGivenUpAndNamed) {
    // No time at all: whether it was quicker or is killed, nothing is left of it.
    for (int i = 0; i < 20; ++i) {
        const auto child = GatedChild::start(shell(""), 0ms);
        const auto pid = child ? child->pid() : child.error().unreaped;
        if (!child) {
            EXPECT_EQ(child.error().what.error, ETIMEDOUT);
        }
        if (!child && pid != 0) {
            EXPECT_EQ(WTERMSIG(status_of(pid)), SIGKILL);
        }
        if (child) ::kill(pid, SIGKILL), status_of(pid);
    }
    EXPECT_EQ(read_small_file("/proc/thread-self/children"), "");
}

TEST(GatedChild, ASignalEndsItAlsoWhileItWaits) {
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &block, &before);
    auto child = must_start(shell("exit 0"));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::kill(child.pid(), SIGTERM);
    EXPECT_EQ(WTERMSIG(status_of(child.pid())), SIGTERM);
    child.open("");  // tells nobody, and harms nobody
    EXPECT_TRUE(child.look().is_over);
}

}  // namespace
}  // namespace knell
