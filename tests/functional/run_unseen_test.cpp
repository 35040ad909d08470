// knell run where the daemon cannot see the command: a lease stands for it, and is renewed whatever
// becomes of those who renew it.

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include "functional/harness/inside.hpp"
#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

void wait_a_moment() {
    pollfd nothing{.fd = -1, .events = 0, .revents = 0};
    ::poll(&nothing, 1, 20);
}

/// `knell run` of a command that sleeps, outside of the namespace of its daemon.
class Unseen : public InsideDaemon {
  protected:
    void SetUp() override {
        InsideDaemon::SetUp();
        if (IsSkipped()) return;
        auto spawn =
            home.command({"run", "--id", "s", "--", "sh", "-c", "echo $$; exec sleep 600"});
        spawn.out = out.writing.get();
        spawn.err = err.writing.get();
        wrapper.emplace(spawn);
        out.writing.reset();
        err.writing.reset();
        std::string said;
        command = static_cast<pid_t>(std::stol(line_of(out, said)));
    }
    /// Waits for a process that renews, other than `not_this`.
    pid_t renewer(pid_t not_this = 0) const {
        const auto path = fmt::format("/proc/{0}/task/{0}/children", wrapper->pid());
        for (int tries = 0; tries < 1500; ++tries) {
            std::istringstream pids(read_file(path));
            for (pid_t pid = 0; pids >> pid;) {
                const auto stat = read_proc_stat(pid);
                const bool renews = stat && !stat->is_dead() && stat->session == pid;
                if (renews && pid != command && pid != not_this) return pid;
            }
            wait_a_moment();
        }
        throw std::runtime_error("nobody renews");
    }
    template <typename Condition>
    void until(Condition&& condition, const char* what) {
        for (int tries = 0; !condition(); ++tries) {
            if (tries == 3000) throw std::runtime_error(std::string("waited in vain for ") + what);
            wait_a_moment();
        }
    }
    std::int64_t heartbeats() {
        return number(Client(home.socket()).must("node.status"), "leases.heartbeats");
    }
    int end_command() {
        ::kill(command, SIGTERM);
        return wrapper->wait();
    }

    Pipe out;
    Pipe err;
    std::optional<Process> wrapper;
    pid_t command = 0;
};

TEST_F(InsideDaemon, ACommandOutsideRunsAndALeaseStandsForIt) {
    Pipe out;
    auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c", "echo $$; exec sleep 600"});
    spawn.out = out.writing.get();
    Process wrapper(spawn);
    out.writing.reset();
    std::string said;
    const auto command = std::stol(line_of(out, said));

    const auto session = show("s");
    EXPECT_EQ(text(session, "owner.kind"), "lease");
    EXPECT_EQ(number(session, "owner.stands_for.pid"), command);
    EXPECT_EQ(number(session, "owner.stands_for.pid_namespace"),
              static_cast<std::int64_t>(own_pid_namespace()));
    EXPECT_THAT(last_seen("s"), HasSubstr("cannot be seen from here"));
    EXPECT_THAT(last_seen("s"), HasSubstr("`knell run`"));

    // It is renewed, also with the wrapper stopped, and also by a later daemon.
    wrapper.freeze();
    const auto before = last_seen("s");
    end();
    start();
    for (int tries = 0; last_seen("s") == before; ++tries) {
        ASSERT_LT(tries, 400) << "not renewed: " << before;
        pollfd nothing{.fd = -1, .events = 0, .revents = 0};
        ::poll(&nothing, 1, 50);
    }
    wrapper.signal(SIGCONT);
    ::kill(static_cast<pid_t>(command), SIGTERM);
    EXPECT_EQ(wrapper.wait(), 128 + SIGTERM);

    EXPECT_EQ(text(show("s"), "reason"), "signaled");
    EXPECT_EQ(text(show("s"), "detail"), "signal 15 (SIGTERM)");
}

TEST_F(InsideDaemon, OfACommandThatIsOverTheEndIsRecordedAsUsual) {
    const auto outcome = home.knell({"run", "--id", "s", "--", "sh", "-c", "echo out; exit 3"});

    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.out, "out\n");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(text(show("s"), "detail"), "exit 3");
}

TEST_F(Unseen, IsRenewedByAnotherWhenTheFirstIsKilled) {
    const auto first = renewer();
    const auto before = heartbeats();

    ::kill(first, SIGKILL);
    const auto second = renewer(first);

    until([&] { return heartbeats() > before; }, "a renewal");
    EXPECT_FALSE(read_proc_stat(first)) << "a zombie";
    // Also over and over.
    ::kill(second, SIGKILL);
    const auto third = renewer(second);
    ::kill(third, SIGKILL);
    const auto renewed = heartbeats();
    renewer(third);
    until([&] { return heartbeats() > renewed; }, "a renewal");
    EXPECT_EQ(text(show("s"), "status"), "idle");
    EXPECT_EQ(end_command(), 128 + SIGTERM);
    EXPECT_EQ(number(show("s"), "generation"), 1);
    EXPECT_EQ(text(show("s"), "detail"), "signal 15 (SIGTERM)");
    EXPECT_THAT(read_to_end(err.reading.get()),
                HasSubstr(fmt::format("knell run: process {}, which renewed the lease of session "
                                      "s, was killed; another one goes on\n",
                                      first)));
}

TEST_F(Unseen, IsOpenedAgainWhenAllStoodStillUntilItWasReaped) {
    const auto helper = renewer();
    for (const pid_t pid : {helper, command}) ::kill(pid, SIGSTOP);
    wrapper->freeze();
    until([&] { return text(show("s"), "status") == "ended"; }, "an end");
    EXPECT_EQ(text(show("s"), "reason"), "reaped");

    for (const pid_t pid : {helper, command, wrapper->pid()}) ::kill(pid, SIGCONT);

    until([&] { return text(show("s"), "status") == "idle"; }, "a second life");
    const auto session = show("s");
    EXPECT_EQ(number(session, "generation"), 2);
    EXPECT_EQ(text(session, "owner.kind"), "lease");
    EXPECT_EQ(number(session, "owner.stands_for.pid"), command);
    renewer(helper);
    EXPECT_EQ(end_command(), 128 + SIGTERM);
    const auto ended = show("s");
    EXPECT_EQ(number(ended, "generation"), 2);
    EXPECT_EQ(text(ended, "reason"), "signaled");
    EXPECT_THAT(read_to_end(err.reading.get()), HasSubstr("it is open again, as generation 2\n"));
}

TEST_F(Unseen, IsOpenedAgainAlsoWhenItsWrapperIsGone) {
    const Stray helper(renewer());
    const Stray orphan(command);
    ::kill(helper.pid(), SIGSTOP);
    wrapper->signal(SIGKILL);
    wrapper->wait();
    until([&] { return text(show("s"), "reason") == "reaped"; }, "an end");

    ::kill(helper.pid(), SIGCONT);

    until([&] { return text(show("s"), "status") == "idle"; }, "a second life");
    EXPECT_EQ(number(show("s"), "generation"), 2);
    EXPECT_EQ(number(show("s"), "owner.stands_for.pid"), command);
    const auto renewed = heartbeats();
    until([&] { return heartbeats() > renewed; }, "a renewal");
    EXPECT_EQ(text(show("s"), "status"), "idle");
}

TEST_F(Unseen, IsNotOpenedAgainWhenItHasEndedMeanwhile) {
    const Stray helper(renewer());
    ::kill(helper.pid(), SIGSTOP);
    wrapper->freeze();
    until([&] { return text(show("s"), "reason") == "reaped"; }, "an end");

    ::kill(command, SIGTERM);
    wrapper->signal(SIGCONT);

    EXPECT_EQ(wrapper->wait(), 128 + SIGTERM);
    EXPECT_EQ(number(show("s"), "generation"), 1);
    EXPECT_EQ(text(show("s"), "reason"), "reaped");
    helper.kill();  // it may have been stopped before it closed the stream
    EXPECT_THAT(read_to_end(err.reading.get()),
                HasSubstr("how its command ended (signal 15 (SIGTERM)) is not on record"));
}

TEST_F(Unseen, StaysEndedWhenAPersonEndedIt) {
    const auto helper = renewer();
    EXPECT_EQ(home.knell({"end", "s"}).status, 0);
    // At its next renewal it is told; who waits for it decides before anything else.
    until([&] { return !read_proc_stat(helper); }, "an end");
    EXPECT_EQ(end_command(), 128 + SIGTERM);

    EXPECT_EQ(number(show("s"), "generation"), 1);
    EXPECT_EQ(text(show("s"), "status"), "ended");
}

/// Runs one that leaves a process running, and ends that.
std::string left_by(const TempHome& home, const std::vector<std::string>& options) {
    std::vector<std::string> words{"run", "--id", "s"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", "setsid sleep 600 >&- 2>&- & echo $!"});
    const auto outcome = home.knell(words);
    EXPECT_EQ(outcome.status, 0);
    const auto pid = std::stol(outcome.out);
    const auto shown = fmt::format("{} sleep 600 ", pid);
    EXPECT_EQ(::kill(static_cast<pid_t>(pid), SIGKILL), 0) << "it was not left alone";
    const auto at = outcome.err.find(shown);
    return at == std::string::npos ? outcome.err
                                   : std::string(outcome.err).replace(at, shown.size(), "IT ");
}

TEST_F(InsideDaemon, WhatACommandOutsideLeavesIsNamedAndNotStopped) {
    constexpr auto why = "IT (the daemon cannot see it from its pid namespace)\n";
    EXPECT_EQ(left_by(home, {}), fmt::format("knell run: left running, not recorded: {}", why));
    EXPECT_EQ(left_by(home, {"--leftovers", "stop"}),
              fmt::format("knell run: left running, not stopped: {}", why));

    EXPECT_THAT(text(show("s"), "evidence"), HasSubstr("left running was not looked for"));
}

TEST_F(InsideDaemon, NorIsItLookedForAmongTheChildrenOfOthers) {
    auto spawn = home.command({});
    spawn.argv = {"sh", "-c", "sleep 1 & exec \"$0\" run --id s -- true", knell_binary()};

    EXPECT_EQ(run_command(spawn).err,
              "knell run: what it left running was not looked for: the daemon cannot see it from "
              "its pid namespace\n");
}

}  // namespace
}  // namespace knell::functional
