// Who lives in another pid namespace than the daemon: a pid is read where it was named, what cannot
// be seen is never refused, and nobody is taken for a stranger under the same number.

#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/inside.hpp"
#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

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

TEST_F(InsideDaemon, IsStoppedFromOutsideByThePidItHasThere) {
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", daemon->pid()));

    const auto down = home.knell({"down"});

    EXPECT_EQ(down.status, 0) << down.err;
    EXPECT_EQ(down.out, fmt::format("stopped: pid {}\n", std::stol(children)));
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
