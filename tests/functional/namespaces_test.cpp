// Who lives in another pid namespace than the daemon: a pid is read where it was named, what cannot
// be seen is never refused, and nobody is taken for a stranger under the same number.

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Runs `argv` as the first process of a pid namespace that ends with this.
Spawn inside(Spawn spawn, bool mount_proc = true) {
    std::vector<std::string> argv{"unshare", "--pid", "--fork", "--kill-child"};
    if (mount_proc) argv.emplace_back("--mount-proc");
    argv.insert(argv.end(), spawn.argv.begin(), spawn.argv.end());
    spawn.argv = std::move(argv);
    return spawn;
}

/// A namespace ends a moment after the process that keeps it does.
void wait_until_unlocked(const TempHome& home) {
    const Fd lock{::open(home.file("knell.lock").c_str(), O_RDWR | O_CLOEXEC)};
    while (lock && ::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
}

bool may_unshare() {
    Spawn spawn;
    spawn.argv = {"true"};
    return run_command(inside(spawn)).status == 0;
}

/// Waits for a line on the pipe.
std::string line_of(const Pipe& pipe, std::string& said) {
    while (!said.contains('\n')) {
        wait_for(pipe.reading.get(), POLLIN, "a line");
        if (!read_available(pipe.reading.get(), said)) throw std::runtime_error("no line came");
    }
    auto line = said.substr(0, said.find('\n'));
    said.erase(0, line.size() + 1);
    return line;
}

/// `knell run` as the first process of a namespace; its command is a shell that sleeps.
class Nested {
  public:
    explicit Nested(const TempHome& home, std::vector<std::string> options = {},
                    bool mount_proc = true) {
        std::vector<std::string> arguments{"run", "--id", "s"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        for (const auto* word : {"--", "sh", "-c", "echo up; exec sleep 600"}) {
            arguments.emplace_back(word);
        }
        auto spawn = inside(home.command(arguments), mount_proc);
        spawn.out = out_.writing.get();
        spawn.err = err_.writing.get();
        unshare_.emplace(spawn);
        out_.writing.reset();
        err_.writing.reset();
        EXPECT_EQ(line_of(out_, said_), "up");
    }
    /// With everything in it.
    void end() { unshare_->signal(SIGKILL); }
    std::string complaints() {
        end();
        return read_to_end(err_.reading.get());
    }

  private:
    Pipe out_;
    Pipe err_;
    std::string said_;
    std::optional<Process> unshare_;
};

std::string program_of(pid_t pid) {
    std::error_code gone;
    return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), gone)
        .filename()
        .string();
}

class Namespaces : public WithOwners {
  protected:
    void SetUp() override {
        if (!may_unshare()) GTEST_SKIP() << "needs the right to make a pid namespace (unshare)";
    }
    pid_t owner_of(const std::string& id) {
        return static_cast<pid_t>(number(show(id), "owner.pid"));
    }
    /// The command under its pid here, not whoever has its inner pid (2) here.
    void expect_sleep_is_owner() {
        const auto pid = owner_of("s");
        EXPECT_NE(pid, 2);
        until([&] { return program_of(pid) == "sleep"; }, "the command to be the owner");
        EXPECT_THAT(read_proc_status(pid)->pids, SizeIs(testing::Gt(1)));
    }
};

TEST_F(Namespaces, ACommandInsideAnotherIsWatchedUnderItsPidHere) {
    Nested nested(home);
    expect_sleep_is_owner();

    nested.end();

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Namespaces, AlsoWhereProcShowsTheOuterOne) {
    Nested nested(home, {}, /*mount_proc=*/false);
    expect_sleep_is_owner();

    nested.end();

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Namespaces, ItsLeftoversAreNotThoseOfTheSameNumberHere) {
    // A group under the number that the command has inside is not made that easily; that every
    // search is made under the right pid shows in its being found at all.
    auto spawn = inside(home.command({"run", "--id", "s", "--leftovers", "stop", "--", "sh", "-c",
                                      "setsid sleep 600 & echo $$"}));
    const auto outcome = run_command(spawn);

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "2\n");
    const auto session = ended("s");
    EXPECT_EQ(text(session, "reason"), "completed");
    EXPECT_EQ(array(session, "leftovers").size(), 1U) << wire::to_text(session);
}

TEST_F(Namespaces, ACallInsideIsReadThere) {
    auto spawn = inside(home.command({}));
    spawn.argv.pop_back();
    spawn.argv.insert(spawn.argv.end(),
                      {"sh", "-c",
                       "\"$0\" rpc session.create "
                       "'{\"id\":\"s\",\"source\":\"cli\",\"owner\":{\"pid\":1}}'; "
                       "\"$0\" rpc session.show '{\"session_id\":\"s\"}'; :",
                       knell_binary()});
    const auto outcome = run_command(spawn);

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto session = ended("s");
    EXPECT_NE(number(session, "owner.pid"), 1);
    EXPECT_EQ(text(session, "detail"), "exit 0");
}

TEST_F(Namespaces, WhatWasSpooledInsideIsTranslatedToo) {
    daemon.terminate();
    const auto store = home.file("knell.db");
    std::filesystem::rename(store, home.file("kept"));
    write_file(store, "this is not a database\n");
    Nested nested(home);
    std::filesystem::rename(home.file("kept"), store);

    daemon.start();
    daemon.wait_for_log("took in");
    reconnect();

    expect_sleep_is_owner();
    let_observers_speak();
    EXPECT_EQ(text(show("s"), "status"), "idle");
    nested.end();
    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Namespaces, ATidIsItsProcess) {
    Pipe over;
    Pipe started;
    pid_t tid = 0;
    std::thread thread([&] {
        tid = static_cast<pid_t>(::syscall(SYS_gettid));
        started.writing.reset();
        read_to_end(over.reading.get());
    });
    read_to_end(started.reading.get());

    own("s", tid);
    EXPECT_EQ(owner_of("s"), ::getpid());
    over.writing.reset();
    thread.join();

    let_observers_speak();
    EXPECT_TRUE(is_open("s"));
}

TEST_F(Namespaces, AProcessWhoseFirstThreadHasEndedIsAlive) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        std::thread([] { ::pause(); }).detach();
        ::syscall(SYS_exit, 0);  // of this thread only
    }
    const Stray process(pid);
    until([&] { return read_proc_stat(pid)->is_dead(); }, "the end of a first thread");

    own("s", pid);
    let_observers_speak();
    EXPECT_TRUE(is_open("s"));
    client.must("node.sweep");
    EXPECT_EQ(text(show("s"), "status"), "idle");
    process.kill();

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

/// A daemon in a namespace, and clients outside of it.
class InsideDaemon : public testing::Test {
  protected:
    void SetUp() override {
        if (!may_unshare()) GTEST_SKIP() << "needs the right to make a pid namespace (unshare)";
        start();
    }
    void TearDown() override { end(); }
    void end() {
        daemon.reset();
        wait_until_unlocked(home);
    }
    void start() {
        auto spawn = inside(home.command({"up"}));
        Pipe log;
        spawn.err = spawn.out = log.writing.get();
        daemon.emplace(spawn);
        log.writing.reset();
        std::string said;
        while (!said.contains("listens at")) {
            wait_for(log.reading.get(), POLLIN, "a daemon inside");
            if (!read_available(log.reading.get(), said)) throw std::runtime_error(said);
        }
        logs.push_back(std::move(log));
    }
    Json show(const std::string& id) {
        Client client(home.socket());
        return client.must("session.show", fmt::format(R"({{"session_id":"{}"}})", id));
    }
    /// The namespace of the daemon.
    std::uint64_t inode_inside() const {
        const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", daemon->pid()));
        struct stat link{};
        const auto path = fmt::format("/proc/{}/ns/pid", std::stol(children));
        if (::stat(path.c_str(), &link) != 0) throw std::runtime_error("no namespace");
        return link.st_ino;
    }
    /// The kernel gives a free inode to the next namespace: this one takes it.
    void keep_that_inode_taken() {
        Spawn spawn;
        spawn.argv = {"sleep", "600"};
        taken.emplace(inside(spawn));
        const auto children = fmt::format("/proc/{0}/task/{0}/children", taken->pid());
        while (read_file(children).empty()) {
            pollfd nothing{.fd = -1, .events = 0, .revents = 0};
            ::poll(&nothing, 1, 1);
        }
    }
    std::string last_seen(const std::string& id) {
        Client client(home.socket());
        return text(client.must("session.why", fmt::format(R"({{"session_id":"{}"}})", id)),
                    "evidence");
    }

    TempHome home;
    std::optional<Process> daemon;
    std::optional<Process> taken;
    std::vector<Pipe> logs;
};

TEST_F(InsideDaemon, IsStoppedFromOutsideByThePidItHasThere) {
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", daemon->pid()));

    const auto down = home.knell({"down"});

    EXPECT_EQ(down.status, 0) << down.err;
    EXPECT_EQ(down.out, fmt::format("stopped: pid {}\n", std::stol(children)));
}

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

TEST_F(InsideDaemon, ACallerOutsideIsToldThatItCannotBeSeen) {
    Client client(home.socket());
    const auto answer = client.call("session.create", R"({"source":"cli","owner":{"pid":2}})");

    EXPECT_EQ(answer.kind(), "invalid_params");
    EXPECT_EQ(answer.field(), "owner.pid");
    EXPECT_THAT(answer.message(), HasSubstr("lease_ttl_s"));
}

TEST_F(InsideDaemon, InARestartedContainerTheOwnersOfTheFirstAreGone) {
    Client client(home.socket());
    // Process 1 inside is the daemon itself, and what else lives there ends with it.
    client.must("session.create",
                fmt::format(R"({{"id":"s","source":"cli","owner":{{"pid":1,"pid_namespace":{}}}}})",
                            inode_inside()));
    EXPECT_EQ(text(show("s"), "status"), "idle");
    client.close();
    end();
    keep_that_inode_taken();
    start();

    const auto session = show("s");
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    // The inode may be that of the new one all the same: then there is another process 1.
    EXPECT_THAT(text(session, "evidence"),
                testing::AnyOf(HasSubstr("was the first process of pid namespace"),
                               HasSubstr("belongs to another process")));
    expect_ordered_bounds(session);
}

/// A daemon, and a process that sleeps, in a namespace; a session "s" of the latter.
class Moved : public testing::Test {
  protected:
    void SetUp() override {
        if (!may_unshare()) GTEST_SKIP() << "needs the right to make a pid namespace (unshare)";
        if (own_pid_namespace() != 0xEFFFFFFCU) {
            GTEST_SKIP() << "needs the first pid namespace of the machine: only there all can be "
                            "seen";
        }
        auto spawn = inside(home.command({}));
        spawn.argv.pop_back();
        spawn.argv.insert(spawn.argv.end(), {"sh", "-c",
                                             "sleep 600 & echo $!; stat -Lc %i /proc/self/ns/pid; "
                                             "\"$0\" up >&2 & wait $!; echo stopped; wait",
                                             knell_binary()});
        spawn.out = out.writing.get();
        spawn.err = err.writing.get();
        first.emplace(spawn);
        out.writing.reset();
        err.writing.reset();
        const auto pid = line_of(out, said);
        const auto inode = line_of(out, said);
        std::string log;
        while (!log.contains("listens at")) log += line_of(err, errors) + "\n";
        Client client(home.socket());
        client.must("session.create", fmt::format(R"({{"id":"s","source":"cli","owner":{{"pid":{},)"
                                                  R"("pid_namespace":{}}}}})",
                                                  pid, inode));
        owner.emplace(find_sleep(std::stol(pid), std::stoull(inode)));
    }
    void TearDown() override {
        first.reset();
        wait_until_unlocked(home);
    }
    /// The pid here of one that has `pid` in that namespace.
    static pid_t find_sleep(std::int64_t pid, std::uint64_t inode) {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto here = std::atoi(entry.path().filename().c_str());
            const auto status = here > 0 ? read_proc_status(here) : std::nullopt;
            if (!status || status->pids.size() < 2 || status->pids.back() != pid) continue;
            struct stat link{};
            if (::stat((entry.path() / "ns/pid").c_str(), &link) == 0 && link.st_ino == inode) {
                return here;
            }
        }
        throw std::runtime_error("the owner is not to be seen");
    }
    Json show() const {
        Client client(home.socket());
        return client.must("session.show", R"({"session_id":"s"})");
    }
    Json ended(Daemon& daemon) const {
        for (int tries = 0; tries < 3000; ++tries) {
            if (text(show(), "status") == "ended") return show();
            daemon.listen();
        }
        throw std::runtime_error("waited in vain for an end: " + daemon.log());
    }

    TempHome home;
    Pipe out;
    Pipe err;
    std::string said;
    std::string errors;
    std::optional<Process> first;
    std::optional<Stray> owner;
};

TEST_F(Moved, ANamespaceThatIsGoneProvesThatTheOwnerIs) {
    first->signal(SIGKILL);
    first->wait();
    owner->wait_until_gone();
    wait_until_unlocked(home);

    Daemon daemon(home);

    const auto session = ended(daemon);
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    EXPECT_THAT(text(session, "evidence"), HasSubstr("pid namespace"));
    expect_ordered_bounds(session);
}

TEST_F(Moved, AnOwnerThatLivesThereIsFoundAndWatched) {
    Client(home.socket()).must("node.stop");
    EXPECT_EQ(line_of(out, said), "stopped");

    Daemon daemon(home);
    EXPECT_EQ(text(show(), "status"), "idle");
    while (number(Client(home.socket()).must("node.status"), "watched_processes") == 0) {
        daemon.listen();
    }
    owner->kill();

    const auto session = ended(daemon);
    EXPECT_EQ(text(session, "reason"), "signaled");
    EXPECT_EQ(text(session, "detail"), "signal 9 (SIGKILL)");
}

}  // namespace
}  // namespace knell::functional
