// A pid comes round again and belongs to a stranger: that is a death, and the stranger is nobody's
// business.  In a pid namespace of its own with few pids; the test runs itself in there.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"
#include "platform/proc_stat.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

constexpr auto inside = "KNELL_TEST_INSIDE";
constexpr auto pids = "400";
constexpr pid_t first_reused = 300;  // the kernel does not give lower ones out again

/// True in the copy of this test that runs inside a namespace; elsewhere it has run that copy.
bool is_inside() {
    if (std::getenv(inside) != nullptr) return true;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    Spawn spawn;
    spawn.argv = {"unshare",
                  "--pid",
                  "--fork",
                  "--kill-child",
                  "--mount-proc",
                  "sh",
                  "-c",
                  fmt::format("echo {} > /proc/sys/kernel/pid_max || exit 77; exec \"$@\"", pids),
                  "sh",
                  std::filesystem::read_symlink("/proc/self/exe").string(),
                  fmt::format("--gtest_filter={}.{}", test->test_suite_name(), test->name())};
    spawn.environment = {{inside, "1"}, {"KNELL_BIN", knell_binary()}};
    const auto outcome = run_command(spawn);
    if (outcome.status == 77 || outcome.err.contains("unshare failed")) {
        // GTEST_SKIP returns from its function only.
        [] { GTEST_SKIP() << "needs root to make a pid namespace with few pids"; }();
    } else {
        EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        EXPECT_THAT(outcome.out, HasSubstr("[  PASSED  ] 1 test"));
    }
    return false;
}

class PidReuse : public testing::Test {
  protected:
    /// A process whose pid will come round.
    static Process reusable() {
        for (;;) {
            auto process = idle_process();
            if (process.pid() >= first_reused) return process;
            process.signal(SIGKILL);
            process.wait();
        }
    }
    /// Starts processes until one has this pid, and another start than before.
    template <typename Start>
    static auto stranger_with(pid_t pid, std::uint64_t not_started_at, Start&& start) {
        for (int tries = 0; tries < 20'000; ++tries) {
            auto process = start();
            const bool same = process.pid() == pid;
            if (same && read_proc_stat(pid)->start_ticks != not_started_at) return process;
            process.signal(SIGKILL);
            process.wait();
        }
        throw std::runtime_error("the pid did not come round");
    }
};

/// Made inside only.
struct Place : WithOwners {
    void TestBody() override {}
    using WithOwners::client;
    using WithOwners::count_events;
    using WithOwners::daemon;
    using WithOwners::ended;
    using WithOwners::expect_end;
    using WithOwners::home;
    using WithOwners::is_open;
    using WithOwners::let_observers_speak;
    using WithOwners::own;
    using WithOwners::reconnect;
    using WithOwners::show;
};

TEST_F(PidReuse, WhileTheDaemonIsDown) {
    if (!is_inside()) return;
    Place place;
    auto owner = reusable();
    const auto pid = owner.pid();
    const auto started = read_proc_stat(pid)->start_ticks;
    place.own("s", pid, R"("leftovers":"stop")");
    place.daemon.kill9();
    owner.signal(SIGKILL);
    owner.wait();
    auto stranger = stranger_with(pid, started, idle_process);
    place.daemon.start();
    place.reconnect();

    const auto session = place.ended("s");
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    EXPECT_THAT(text(session, "evidence"), HasSubstr("belongs to another process"));
    EXPECT_TRUE(array(session, "leftovers").empty());
    place.own("strangers", pid);
    place.let_observers_speak();
    EXPECT_TRUE(place.is_open("strangers"));
    stranger.signal(SIGTERM);
    EXPECT_EQ(stranger.wait(), 128 + SIGTERM) << "nobody but the test has signalled it";
    place.expect_end("strangers", "signaled", "signal 15 (SIGTERM)");
    EXPECT_EQ(place.count_events("session:end"), 3U) << "with that of the barrier";
}

TEST_F(PidReuse, WhileTheDaemonWatches) {
    if (!is_inside()) return;
    Place place;
    auto owner = reusable();
    const auto pid = owner.pid();
    const auto started = read_proc_stat(pid)->start_ticks;
    place.own("s", pid);
    // It cannot look while the pid goes round, but it holds the process by a descriptor.
    place.daemon.freeze();
    owner.signal(SIGTERM);
    owner.wait();
    auto stranger = stranger_with(pid, started, idle_process);
    place.daemon.signal(SIGCONT);

    place.expect_end("s", "signaled", "signal 15 (SIGTERM)");
    place.own("strangers", pid);
    place.let_observers_speak();
    EXPECT_TRUE(place.is_open("strangers"));
    stranger.signal(SIGKILL);
    place.expect_end("strangers", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(PidReuse, OfAWrapperDoesNotMakeAStrangersChildrenLeftovers) {
    if (!is_inside()) return;
    Place place;
    reusable();
    Pipe out;
    auto spawn = place.home.command(
        {"run", "--id", "s", "--leftovers", "stop", "--", "sh", "-c", "echo $$; exec sleep 600"});
    spawn.out = out.writing.get();
    Process wrapper(spawn);
    std::string said;
    while (!said.contains('\n')) ASSERT_TRUE(read_available(out.reading.get(), said));
    const Stray command(static_cast<pid_t>(std::stol(said)));
    const auto pid = wrapper.pid();
    const auto started = read_proc_stat(pid)->start_ticks;
    wrapper.signal(SIGKILL);
    wrapper.wait();
    auto stranger = stranger_with(pid, started, [] { return Puppet(); });
    const Stray child(stranger.ask_pid("sleep 600 & echo $!"));

    command.kill();

    const auto session = place.ended("s");
    EXPECT_EQ(text(session, "reason"), "signaled");
    EXPECT_TRUE(array(session, "leftovers").empty()) << wire::to_text(at(session, "leftovers"));
    place.let_observers_speak();
    EXPECT_TRUE(child.is_running());
    EXPECT_TRUE(is_running(pid));
}

TEST_F(PidReuse, OfACommandDoesNotMakeAStrangersGroupLeftovers) {
    if (!is_inside()) return;
    Place place;
    auto owner = reusable();
    const auto pid = owner.pid();
    const auto started = read_proc_stat(pid)->start_ticks;
    place.own("s", pid, R"("leftovers":"stop")");
    place.daemon.kill9();
    owner.signal(SIGKILL);
    owner.wait();
    // Leads a group and a session under the number of the command, and has a child in both.
    auto stranger = stranger_with(pid, started, [] { return Puppet(); });
    stranger.ask("exec setsid sh -c 'echo ready; exec sh'");
    const Stray child(stranger.ask_pid("sleep 600 & echo $!"));
    ASSERT_EQ(read_proc_stat(child.pid())->group, pid);

    place.daemon.start();
    place.reconnect();

    const auto session = place.ended("s");
    EXPECT_THAT(text(session, "evidence"), HasSubstr("belongs to another process"));
    EXPECT_TRUE(array(session, "leftovers").empty()) << wire::to_text(at(session, "leftovers"));
    place.let_observers_speak();
    EXPECT_TRUE(child.is_running());
    EXPECT_TRUE(is_running(pid));
}

TEST_F(PidReuse, OfABackgroundProcessAdoptsNoStranger) {
    if (!is_inside()) return;
    Place place;
    place.own("s", ::getpid());
    reusable();
    const auto started =
        place.client.must("process.start", R"({"session_id":"s","argv":["sleep","1000"]})");
    const auto pid = static_cast<pid_t>(number(started, "pid"));
    const auto start_ticks = read_proc_stat(pid)->start_ticks;
    const auto named = fmt::format(R"({{"process_id":"{}"}})", text(started, "process_id"));
    place.client.must("process.stop", named);  // and the next daemon is to go on with that
    place.daemon.freeze();
    place.daemon.kill9();
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    auto stranger = stranger_with(pid, start_ticks, idle_process);

    place.daemon.start();
    place.reconnect();

    const auto row = place.client.must("process.show", named);
    EXPECT_EQ(text(row, "state"), "exited");
    EXPECT_TRUE(at(place.client.must("process.stop", named), "already_exited").as_bool());
    place.let_observers_speak();
    stranger.signal(SIGTERM);
    EXPECT_EQ(stranger.wait(), 128 + SIGTERM) << "nobody but the test has signalled it";
}

TEST_F(PidReuse, AfterARestartOfTheHostNobodyIsALeftover) {
    if (!is_inside()) return;
    Place place;
    Puppet owner({{"KNELL_SESSION_ID", "s"},
                  {"KNELL_GENERATION", "1"},
                  {"KNELL_SOCKET", place.home.socket()}});
    const Stray child(owner.ask_pid("sleep 600 & echo $!"));
    place.own("s", owner.pid(), R"("leftovers":"stop")");
    place.daemon.kill9();
    const auto file = place.home.path() + "/boot_id";
    std::ofstream(file) << "11111111-2222-3333-4444-555555555555\n";
    const auto mounted =
        run_command({.argv = {"mount", "--bind", file, "/proc/sys/kernel/random/boot_id"}});
    ASSERT_EQ(mounted.status, 0) << mounted.err;

    place.daemon.start();
    place.reconnect();

    const auto session = place.ended("s");
    EXPECT_EQ(text(session, "reason"), "host_restart");
    EXPECT_TRUE(array(session, "leftovers").empty()) << wire::to_text(at(session, "leftovers"));
    place.let_observers_speak();
    EXPECT_TRUE(child.is_running());
}

}  // namespace
}  // namespace knell::functional
