#include "activity/proc_source.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/spawn.hpp"
#include "testing/tcp_peer.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A program that runs until this goes, and then all of its group is killed.
class Program {
  public:
    explicit Program(std::vector<std::string> argv) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        out_ = Fd(ends[0]);
        const Fd write_end(ends[1]);
        ChildSpec spec;
        spec.program = ProgramOnPath{argv.front()};
        spec.argv = std::move(argv);
        spec.descriptors = {{.ours = write_end.get(), .theirs = 1}};
        spec.null_descriptors = {0, 2};
        spec.closes_others = true;
        spec.group = ChildSpec::Group::own_session;
        auto spawned = spawn(std::move(spec));
        if (!spawned) throw std::runtime_error("cannot start");
        pid_ = spawned->pid;
    }
    ~Program() {
        ::kill(-pid_, SIGKILL);  // nobody has waited for it, so the number is its own
        ::kill(pid_, SIGCONT);
        ::waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t pid() const { return pid_; }
    /// Waits for it.
    std::string line() const {
        std::string text;
        for (char c = 0; ::read(out_.get(), &c, 1) == 1 && c != '\n';) text += c;
        return text;
    }

  private:
    Fd out_;
    pid_t pid_ = -1;
};

class ProcSourceTest : public ::testing::Test {
  protected:
    ProcessIdentity identify(pid_t pid) const { return table_.identify(pid).value(); }
    TreeSample look(const ProcessIdentity& process) {
        now_ += 10min;  // all that may be kept is old
        source_.begin_round(now_);
        return source_.look(process, now_);
    }
    TreeSample look(pid_t pid) { return look(identify(pid)); }
    /// Looks until it is so.  Something the process does by itself: the test's timeout ends it.
    template <typename Wanted>
    TreeSample look_until(pid_t pid, Wanted&& wanted) {
        for (;;) {
            auto sample = look(pid);
            if (wanted(sample)) return sample;
            ::poll(nullptr, 0, 1);
        }
    }

    ProcTable table_;
    ProcSource source_{table_};
    SteadyTime now_{1h};
};

TEST_F(ProcSourceTest, ASleeperDoesNothing) {
    const Program sleeper({"sleep", "1000"});
    const auto first =
        look_until(sleeper.pid(), [](const TreeSample& sample) { return !sample.is_runnable; });
    EXPECT_EQ(first.sight, TreeSample::Sight::seen);
    EXPECT_THAT(first.unseen, IsEmpty());
    ASSERT_THAT(first.members, SizeIs(1));
    EXPECT_EQ(first.members.front().pid, sleeper.pid());
    EXPECT_EQ(first.sockets, TreeSockets{});
    EXPECT_FALSE(first.is_stopped);
    EXPECT_EQ(first.terminal, "");

    EXPECT_EQ(look(sleeper.pid()), first);
}

TEST_F(ProcSourceTest, ABusyOneUsesTheProcessorAndReadsAndWrites) {
    const Program busy({"dd", "if=/dev/zero", "of=/dev/null", "bs=64k"});
    const auto first = look(busy.pid());

    const auto later = look_until(
        busy.pid(), [&](const TreeSample& sample) { return sample.cpu >= first.cpu + 100ms; });

    EXPECT_GT(later.io_bytes, first.io_bytes + 1'000'000);
}

TEST_F(ProcSourceTest, WhatItsChildrenDidCounts) {
    // The kernel ends it, so that it uses as much on any machine.
    const Program shell({"sh", "-c",
                         "(ulimit -c 0; ulimit -t 1; dd if=/dev/zero of=/dev/null bs=64k) "
                         "2>/dev/null; echo done; sleep 1000; true"});
    ASSERT_EQ(shell.line(), "done");

    const auto seen = look_until(
        shell.pid(), [](const TreeSample& sample) { return sample.members.size() == 2; });

    EXPECT_GE(seen.cpu, 900ms) << "of the dd that was waited for";
    EXPECT_GE(seen.io_bytes, 1'000'000U);
}

TEST_F(ProcSourceTest, FollowsTheTreeDown) {
    const Program shell({"sh", "-c", "sh -c 'sleep 1000 & sleep 1000 & echo up; wait'; true"});
    ASSERT_EQ(shell.line(), "up");

    const auto seen = look(shell.pid());

    EXPECT_THAT(seen.members, SizeIs(4));
    EXPECT_TRUE(std::ranges::is_sorted(seen.members));
}

TEST_F(ProcSourceTest, RemembersWhoLeavesTheTree) {
    // The shell between them ends when it is told to, and its child is init's then.
    const Program program({"sh", "-c",
                           "sh -c 'sleep 1000 & echo $$ $!; kill -STOP $$; exit' & wait; "
                           "exec sleep 1000"});
    std::istringstream line(program.line());
    pid_t between = 0;
    pid_t sleeper = 0;
    line >> between >> sleeper;
    const auto left = identify(sleeper);
    const TreeMember member{.pid = sleeper, .start_ticks = left.start_ticks};
    const auto before = look_until(program.pid(), [&](const TreeSample& sample) {
        return std::ranges::binary_search(sample.members, member);
    });
    EXPECT_THAT(before.escaped, IsEmpty());

    // Stopped or about to be.
    for (;;) {
        ::kill(between, SIGCONT);
        if (const auto now = look(program.pid()); !now.escaped.empty()) {
            EXPECT_THAT(now.escaped, ElementsAre(member));
            break;
        }
        ::poll(nullptr, 0, 1);
    }
    EXPECT_THAT(look(program.pid()).escaped, ElementsAre(member)) << "as long as it runs";
    ::kill(sleeper, SIGKILL);
    look_until(program.pid(), [](const TreeSample& sample) { return sample.escaped.empty(); });
}

TEST_F(ProcSourceTest, FindsTheChildrenOfEachThread) {
    const Program python({"python3", "-uc", R"(
import subprocess, threading, time
def work(i):
    subprocess.Popen(['sleep', '1000'])
    ready.release()
    time.sleep(1000)
ready = threading.Semaphore(0)
for i in range(12): threading.Thread(target=work, args=(i,), daemon=True).start()
for i in range(12): ready.acquire()
print('up')
time.sleep(1000)
)"});
    ASSERT_EQ(python.line(), "up");

    EXPECT_THAT(look(python.pid()).members, SizeIs(13));
}

TEST_F(ProcSourceTest, AFollowerOfAFileWaits) {
    const testing::TempFolder folder;
    const auto file = folder.path() + "/log";
    std::ofstream(file) << "begun\n";
    const Program tail({"tail", "-f", file});
    ASSERT_EQ(tail.line(), "begun");
    const auto first =
        look_until(tail.pid(), [](const TreeSample& sample) { return !sample.is_runnable; });

    EXPECT_EQ(look(tail.pid()).io_bytes, first.io_bytes);
    std::ofstream(file, std::ios::app) << "more\n";
    ASSERT_EQ(tail.line(), "more");
    EXPECT_GE(look(tail.pid()).io_bytes, first.io_bytes + 10);
}

TEST_F(ProcSourceTest, AServerAndItsConnections) {
    const Program server({"python3", "-um", "http.server", "0", "--bind", "127.0.0.1"});
    auto words = server.line();  // Serving HTTP on 127.0.0.1 port 40000 (http://...
    words.erase(0, words.find("port ") + 5);
    const auto address = "127.0.0.1:" + words.substr(0, words.find(' '));
    const auto idle = look(server.pid());
    ASSERT_TRUE(idle.sockets);
    EXPECT_THAT(idle.sockets->listens, ElementsAre(address));
    EXPECT_THAT(idle.sockets->connections, IsEmpty());

    testing::TcpPeer client(address);
    ASSERT_TRUE(client.send("GET /nothing HTTP/1.0\r\n"));
    const auto served = look_until(server.pid(), [](const TreeSample& sample) {
        return !sample.sockets->connections.empty() &&
               sample.sockets->connections.front().bytes > 0;
    });
    ASSERT_THAT(served.sockets->connections, SizeIs(1));
    const auto connection = served.sockets->connections.front();
    EXPECT_TRUE(connection.is_accepted);
    EXPECT_TRUE(connection.is_open);

    ASSERT_TRUE(client.send("\r\n"));
    EXPECT_THAT(client.read_all(), HasSubstr("404"));
    client.close();
    const auto after = look_until(server.pid(), [](const TreeSample& sample) {
        return !sample.sockets->connections.empty() && !sample.sockets->connections.front().is_open;
    });
    ASSERT_THAT(after.sockets->connections, SizeIs(1)) << "the kernel remembers it for a minute";
    EXPECT_EQ(after.sockets->connections.front().mark, connection.mark);
}

TEST_F(ProcSourceTest, AListenerOnAUnixSocket) {
    const testing::TempFolder folder;
    const auto path = folder.path() + "/a.sock";
    const Program server({"python3", "-uc",
                          "import socket,sys,time\ns=socket.socket(socket.AF_UNIX)\n"
                          "s.bind(sys.argv[1])\ns.listen()\nprint('up')\ntime.sleep(1000)",
                          path});
    ASSERT_EQ(server.line(), "up");

    EXPECT_THAT(look(server.pid()).sockets.value().listens, ElementsAre(path));
}

TEST_F(ProcSourceTest, AShellAtATerminalWaitsThere) {
    const Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_EQ(grantpt(master.get()), 0);
    ASSERT_EQ(unlockpt(master.get()), 0);
    const std::string name = ptsname(master.get());
    // Opening it makes it the terminal of a session that has none.
    const Program shell({"sh", "-c", R"(exec sh -i <"$0" >"$0" 2>"$0")", name});

    const auto waits =
        look_until(shell.pid(), [](const TreeSample& sample) { return !sample.terminal.empty(); });
    EXPECT_EQ(waits.terminal, name);

    constexpr std::string_view command = "sleep 1000\n";
    ASSERT_EQ(write(master.get(), command.data(), command.size()),
              static_cast<ssize_t>(command.size()));
    const auto sleeps = look_until(shell.pid(), [](const TreeSample& sample) {
        return sample.members.size() == 2 && !sample.is_runnable;
    });
    EXPECT_EQ(look_until(shell.pid(), [](const TreeSample& s) { return s.terminal.empty(); })
                  .members.size(),
              sleeps.members.size())
        << "the one in the foreground waits for the time";
}

TEST_F(ProcSourceTest, AStoppedOneIsStopped) {
    const Program shell({"sh", "-c", "sleep 1000 & echo up; wait"});
    ASSERT_EQ(shell.line(), "up");
    EXPECT_FALSE(look(shell.pid()).is_stopped);
    ::kill(shell.pid(), SIGSTOP);
    look_until(shell.pid(),
               [&](const TreeSample&) { return read_proc_stat(shell.pid())->is_stopped(); });
    EXPECT_FALSE(look(shell.pid()).is_stopped) << "its child is not";

    ::kill(-shell.pid(), SIGSTOP);
    EXPECT_TRUE(
        look_until(shell.pid(), [](const TreeSample& s) { return s.is_stopped; }).is_stopped);
}

TEST_F(ProcSourceTest, OneThatEndedIsGoneAlsoBeforeItIsWaitedFor) {
    const Program sleeper({"sleep", "1000"});
    const auto process = identify(sleeper.pid());
    ::kill(sleeper.pid(), SIGKILL);
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(sleeper.pid()), &ended, WEXITED | WNOWAIT), 0);

    EXPECT_EQ(look(process).sight, TreeSample::Sight::gone);
}

TEST_F(ProcSourceTest, WhoHasThePidOfAnotherIsNotLookedAt) {
    const Program sleeper({"sleep", "1000"});
    auto process = identify(sleeper.pid());
    process.start_ticks -= 1;
    EXPECT_EQ(look(process), TreeSample{});

    process = identify(sleeper.pid());
    process.boot_id = "another";
    EXPECT_EQ(look(process), TreeSample{});
}

TEST_F(ProcSourceTest, NobodyIsGone) {
    auto process = identify(getpid());
    process.pid = 1 << 30;
    EXPECT_EQ(look(process).sight, TreeSample::Sight::gone);
}

TEST_F(ProcSourceTest, OneOfAnotherNamespaceCannotBeSeen) {
    auto process = identify(getpid());
    process.pid_namespace += 1;

    const auto sample = look(process);

    EXPECT_EQ(sample.sight, TreeSample::Sight::hidden);
    EXPECT_THAT(sample.unseen, ElementsAre("it is in another pid namespace"));
}

TEST_F(ProcSourceTest, OneThatProcDoesNotShowIsHidden) {
    const testing::TempFolder empty;
    ProcSource source(table_, empty.path());

    const auto sample = source.look(identify(getpid()), now_);

    EXPECT_EQ(sample.sight, TreeSample::Sight::hidden);
    EXPECT_THAT(sample.unseen, ElementsAre("/proc does not show it (hidepid)"));
}

/// A /proc that a test writes, with one process that has this test's pid.
class WrittenProc : public ProcSourceTest {
  protected:
    WrittenProc() {
        std::filesystem::create_directories(own() / "task" / std::to_string(getpid()));
        std::ofstream(own() / "stat")
            << "1 (a b) S 1 1 1 0 -1 0 0 0 0 0 100 50 30 20 20 0 1 0 77 0";
        process_ = identify(getpid());
        process_.start_ticks =
            read_proc_stat_in(Fd(open(own().c_str(), O_PATH)).get())->start_ticks;
    }
    std::filesystem::path own() const {
        return std::filesystem::path(folder_.path()) / std::to_string(getpid());
    }
    TreeSample look_written() { return written_.look(process_, now_); }

    testing::TempFolder folder_;
    ProcSource written_{table_, folder_.path()};
    ProcessIdentity process_;
};

TEST_F(WrittenProc, AKernelThatDoesNotTellChildrenHidesWhatIsDone) {
    const auto sample = look_written();

    EXPECT_EQ(sample.sight, TreeSample::Sight::hidden);
    EXPECT_THAT(sample.unseen, ElementsAre("the kernel does not tell the children of a process"));
}

TEST_F(WrittenProc, WhatCannotBeReadIsNotAGuess) {
    std::ofstream(own() / "task" / std::to_string(getpid()) / "children") << "4294967 ";
    std::filesystem::create_directories(own() / "fd");

    const auto sample = look_written();

    EXPECT_EQ(sample.sight, TreeSample::Sight::seen);
    EXPECT_EQ(sample.cpu, 2s);
    EXPECT_EQ(sample.io_bytes, 0U);
    EXPECT_THAT(sample.members, SizeIs(1)) << "a child that is gone";
    EXPECT_EQ(sample.sockets, TreeSockets{});
}

TEST_F(ProcSourceTest, OneThatHidesItsMemoryIsSeenAsFarAsItCan) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can start another user's process";
    // A child of this test that gives up its rights and looks at a process of root.
    const Program sleeper({"sleep", "1000"});
    const auto process = identify(sleeper.pid());
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Fd out(ends[0]);
    Fd in(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
        std::string text = "no";
        if (setresuid(65534, 65534, 65534) == 0) {
            const auto sample = source_.look(process, now_);
            text = sample.sight == TreeSample::Sight::seen ? "seen" : "hidden";
            for (const auto& unseen : sample.unseen) text += "," + unseen;
            if (sample.sockets) text += ",sockets";
        }
        const auto written = ::write(in.get(), text.data(), text.size());
        ::_exit(written > 0 ? 0 : 1);
    }
    in.reset();
    std::string text;
    for (char c = 0; ::read(out.get(), &c, 1) == 1;) text += c;
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    EXPECT_EQ(text,
              "seen,I/O cannot be read: Permission denied,sockets cannot be read: Permission "
              "denied");
}

TEST(TerminalPath, NamesTerminalsByTheirDevice) {
    EXPECT_EQ(terminal_path(136 << 8 | 3), "/dev/pts/3");
    EXPECT_EQ(terminal_path(137 << 8 | 4), "/dev/pts/260");
    EXPECT_EQ(terminal_path(4 << 8 | 1), "/dev/tty1");
    EXPECT_EQ(terminal_path(4 << 8 | 64), "/dev/ttyS0");
    EXPECT_EQ(terminal_path(204 << 8 | 64), "204:64");
}

TEST(TerminalPath, TellsReadersFromSleepers) {
    for (const auto* wchan : {"n_tty_read", "wait_woken", "do_select", "poll_schedule_timeout",
                              "do_poll.constprop.0", "do_epoll_wait", "0", ""}) {
        EXPECT_TRUE(may_read_terminal(wchan)) << wchan;
    }
    for (const auto* wchan : {"hrtimer_nanosleep", "do_wait", "futex_wait_queue", "pipe_read"}) {
        EXPECT_FALSE(may_read_terminal(wchan)) << wchan;
    }
}

}  // namespace
}  // namespace knell
