#include "platform/child_group.hpp"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/output_pipe.hpp"
#include "testing/pipe.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

using testing::with_refused_calls;
using How = ChildExit::How;

Spawned shell(const char* script, int output = STDOUT_FILENO) {
    auto started = spawn({.program = ProgramAt{"/bin/sh"},
                          .argv = {"/bin/sh", "-c", script},
                          .environment = {},
                          .pid_variable = {},
                          .late_variable = {},
                          .descriptors = {{output, STDOUT_FILENO}},
                          .null_descriptors = {},
                          .group = ChildSpec::Group::own_session,
                          .directory_path = {},
                          .umask = {}});
    EXPECT_TRUE(started);
    return *std::move(started);
}

ChildExit end_of(ChildGroup& group) {
    pollfd ended{.fd = group.pidfd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&ended, 1, -1), 1);
    return group.look().value();
}

TEST(ChildGroup, SaysHowItsLeaderEnded) {
    ChildGroup exits(shell("exit 3"));
    EXPECT_EQ(to_text(end_of(exits)), "exit 3");
    ChildGroup dies(shell("kill -SEGV $$"));
    const auto exit = end_of(dies);
    EXPECT_EQ(to_text(exit), "killed by SIGSEGV");
    EXPECT_FALSE(exit.is_success());
    EXPECT_EQ(to_text({How::signaled, SIGRTMAX}), "killed by signal 64");
}

TEST(ChildGroup, LooksWithoutReapingAndThenReapsOnce) {
    ChildGroup group(shell("true"));
    EXPECT_TRUE(end_of(group).is_success());
    EXPECT_TRUE(end_of(group).is_success());
    EXPECT_TRUE(group.reap());
    EXPECT_EQ(group.pidfd(), -1);
    EXPECT_TRUE(group.reap());
    EXPECT_FALSE(group.look());
    group.signal(SIGKILL);  // to nobody
}

TEST(ChildGroup, SignalsAllOfTheGroupAlsoAfterItsLeaderHasEnded) {
    testing::Pipe pipe;
    ChildGroup group(shell("sleep 1000 & exit 0", pipe.writer.get()));
    EXPECT_TRUE(end_of(group).is_success());
    group.signal(SIGKILL);
    EXPECT_EQ(pipe.text(), "") << "ends once nobody can write";
    EXPECT_TRUE(group.reap());
}

TEST(ChildGroup, DoesNotSignalANumberThatSomebodyElseHasReaped) {
    auto started = shell("exit 0");
    const auto pid = started.pid;
    ChildGroup group(std::move(started));
    end_of(group);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    const auto exit = group.look();
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->how, How::lost);
    EXPECT_EQ(to_text(*exit), "ended, and its exit status was lost");
    EXPECT_EQ(group.pidfd(), -1);
}

TEST(ChildGroup, AWaitThatIsRefusedSaysNothing) {
    ChildGroup group(shell("exit 0"));
    end_of(group);
    with_refused_calls({SYS_waitid}, EINVAL, [&] {
        EXPECT_FALSE(group.look());
        EXPECT_FALSE(group.reap());
    });
    EXPECT_TRUE(group.reap());
}

TEST(ChildGroup, IsKilledWithItsObject) {
    testing::Pipe pipe;
    {
        const ChildGroup group(shell("echo runs; sleep 1000", pipe.writer.get()));
        auto readable = pipe.readable();
        EXPECT_EQ(::poll(&readable, 1, -1), 1);
    }
    EXPECT_EQ(pipe.text(), "runs\n");
}

TEST(OutputPipe, GivesWhatIsThereUpToABound) {
    auto pipe = open_output_pipe().value();
    ASSERT_EQ(::write(pipe.writer.get(), "abcdef", 6), 6);
    std::string got;
    const auto take = [&](std::string_view bytes) { got += bytes; };
    read_output(pipe.reader, 4, take);
    EXPECT_EQ(got, "abcd");
    read_output(pipe.reader, 4, take);
    EXPECT_EQ(got, "abcdef");
    EXPECT_TRUE(pipe.reader) << "somebody may still write";
    pipe.writer.reset();
    read_output(pipe.reader, 4, take);
    EXPECT_FALSE(pipe.reader);
}

TEST(OutputPipe, SaysWhatIsRefused) {
#ifndef KNELL_NEEDS_DESCRIPTORS
    with_refused_calls({SYS_pipe2}, EMFILE, [] {
        const auto pipe = open_output_pipe();
        ASSERT_FALSE(pipe);
        EXPECT_EQ(pipe.error().code, ErrorCode::limit);
        EXPECT_EQ(pipe.error().message, "cannot open a pipe for its output: Too many open files");
    });
#endif
    with_refused_calls({SYS_fcntl}, EPERM, [] {
        const auto pipe = open_output_pipe();
        ASSERT_FALSE(pipe);
        EXPECT_EQ(pipe.error().code, ErrorCode::internal);
        EXPECT_EQ(pipe.error().message, "cannot read its output: Operation not permitted");
    });
}

}  // namespace
}  // namespace knell
