#include "watch/pid_namespaces.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr auto ours = "ours";

/// A /proc that shows what a test says.
class PidNamespacesTest : public ::testing::Test {
  protected:
    void SetUp() override { put("self", ours); }

    struct Shown {
        std::string pids;  // as NSpid has them
        std::string in = "inner";
        pid_t parent = 1;
        std::string children;
    };
    void show(pid_t pid, const Shown& shown) {
        const auto name = fmt::format("{}", pid);
        put(name, shown.in);
        write(name + "/status", fmt::format("Tgid:\t{}\nNSpid:\t{}\n", pid, shown.pids));
        write(name + "/stat",
              fmt::format("{0} (x) S {1} {0} {0} 0 -1 64 0 0 0 0 0 0 0 0 0 20 0 1 0 5", pid,
                          shown.parent));
        write(fmt::format("{0}/task/{0}/children", name), shown.children);
        write(fmt::format("{0}/task/{0}/status", name),
              fmt::format("Tgid:\t{}\nNSpid:\t{}\n", pid, shown.pids));
        fs::copy(fs::path(proc()) / name / "stat",
                 fs::path(proc()) / name / "task" / name / "stat");
    }
    void show_thread(pid_t pid, pid_t thread, const std::string& pids) {
        write(fmt::format("{}/task/{}/status", pid, thread),
              fmt::format("Tgid:\t{}\nNSpid:\t{}\n", pid, pids));
    }
    std::uint64_t inode(const std::string& name) const {
        struct stat status{};
        return stat((folder.path() + "/namespaces/" + name).c_str(), &status) == 0 ? status.st_ino
                                                                                   : 0;
    }
    /// In the first namespace of the boot, or in another.
    PidNamespaces from_outside() const { return PidNamespaces(proc(), inode(ours)); }
    PidNamespaces from_a_container() const { return PidNamespaces(proc(), 1); }
    std::string proc() const { return folder.path() + "/proc"; }

    testing::TempFolder folder;

  private:
    /// A namespace is known by its inode, so its links are names of one file.
    void put(const std::string& process, const std::string& space) {
        const auto file = fs::path(folder.path()) / "namespaces" / space;
        if (!fs::exists(file)) {
            fs::create_directories(file.parent_path());
            std::ofstream(file).flush();
        }
        fs::create_directories(fs::path(proc()) / process / "ns");
        fs::create_hard_link(file, fs::path(proc()) / process / "ns/pid");
    }
    void write(const std::string& name, const std::string& text) const {
        const auto path = fs::path(proc()) / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
};

TEST_F(PidNamespacesTest, APidOfOurOwnNamespaceIsItself) {
    const auto located = from_outside().find({4242, inode(ours), 0}, 0);

    EXPECT_EQ(located.kind, Located::Kind::here);
    EXPECT_EQ(located.pid, 4242);
}

TEST_F(PidNamespacesTest, AChildOfWhoNamedItIsFound) {
    show(500, {.pids = "500\t1", .children = "501 502 "});
    show(501, {.pids = "501\t2", .parent = 500});
    show(502, {.pids = "502\t3", .parent = 500});

    const auto located = from_a_container().find({3, inode("inner"), 0}, 500);

    EXPECT_EQ(located.kind, Located::Kind::here);
    EXPECT_EQ(located.pid, 502);
}

TEST_F(PidNamespacesTest, AnAncestorOfWhoNamedItIsFound) {
    show(500, {.pids = "500\t1"});
    show(501, {.pids = "501\t2", .parent = 500});

    EXPECT_EQ(from_a_container().find({1, inode("inner"), 0}, 501).pid, 500);
}

TEST_F(PidNamespacesTest, TheSameNumberInAnotherNamespaceIsAnotherProcess) {
    show(500, {.pids = "500\t7", .in = "other"});
    show(600, {.pids = "600\t7", .in = "inner"});

    EXPECT_EQ(from_outside().find({7, inode("inner"), 0}, 0).pid, 600);
}

TEST_F(PidNamespacesTest, AThreadCountsForItsProcess) {
    show(500, {.pids = "500\t7"});
    show_thread(500, 501, "501\t8");

    EXPECT_EQ(from_outside().find({8, inode("inner"), 0}, 0).pid, 500);
}

TEST_F(PidNamespacesTest, NobodyIsProvenWhereTheNamespaceCanBeSeen) {
    show(500, {.pids = "500\t1"});

    const auto located = from_a_container().find({7, inode("inner"), 0}, 500);

    EXPECT_EQ(located.kind, Located::Kind::nobody);
    EXPECT_THAT(located.why, HasSubstr("no process 7 runs in pid namespace"));
}

TEST_F(PidNamespacesTest, ANamespaceWithoutProcessesIsGoneForWhoSeesAll) {
    show(1, {.pids = "1", .in = ours});
    show(500, {.pids = "500\t8", .in = "other"});

    const auto located = from_outside().find({7, 12345, 0}, 0);

    EXPECT_EQ(located.kind, Located::Kind::nobody);
    EXPECT_THAT(located.why, HasSubstr("no process lives in pid namespace 12345 any more"));
}

TEST_F(PidNamespacesTest, ThatANamespaceWasEmptySaysNothingOfLaterProcesses) {
    show(1, {.pids = "1", .in = ours});
    show(499, {.pids = "499\t2", .in = "other"});
    const auto namespaces = from_outside();
    const auto reused = inode("other");
    fs::remove_all(proc() + "/499");
    ASSERT_EQ(namespaces.find({7, reused, 5}, 0).kind, Located::Kind::nobody);
    show(500, {.pids = "500\t7", .in = "other"});  // a new one under the same inode

    EXPECT_EQ(namespaces.find({7, reused, 5}, 0).kind, Located::Kind::nobody);
    EXPECT_EQ(namespaces.find({7, reused, UINT64_MAX}, 0).pid, 500);
    EXPECT_EQ(namespaces.find({7, reused, 0}, 0).pid, 500);
}

TEST_F(PidNamespacesTest, WhatWasProvenOtherwiseHoldsAlsoInsideAContainer) {
    show(1, {.pids = "1", .in = ours});
    auto namespaces = from_a_container();
    namespaces.add_ended(12345, "its first process has ended");

    const auto located = namespaces.find({7, 12345, 1}, 0);

    EXPECT_EQ(located.kind, Located::Kind::nobody);
    EXPECT_EQ(located.why, "its first process has ended");
    EXPECT_EQ(namespaces.find({7, 12345, UINT64_MAX}, 0).kind, Located::Kind::cannot_see);
    EXPECT_EQ(namespaces.find({7, 54321, 1}, 0).kind, Located::Kind::cannot_see);
}

TEST_F(PidNamespacesTest, FromInsideAContainerAnotherNamespaceCannotBeSeen) {
    show(1, {.pids = "1", .in = ours});

    EXPECT_EQ(from_a_container().find({7, 12345, 0}, 0).kind, Located::Kind::cannot_see);
}

TEST_F(PidNamespacesTest, HiddenProcessesProveNothing) {
    show(500, {.pids = "500\t7", .in = "other"});  // but not process 1: hidepid

    EXPECT_EQ(from_outside().find({7, 12345, 0}, 0).kind, Located::Kind::cannot_see);
}

TEST_F(PidNamespacesTest, AClosedLinkProvesNothingOfTheSameNumber) {
    show(1, {.pids = "1", .in = ours});
    show(500, {.pids = "500\t7", .in = "other"});
    fs::remove(proc() + "/500/ns/pid");

    EXPECT_EQ(from_outside().find({7, 12345, 0}, 0).kind, Located::Kind::cannot_see);
    EXPECT_EQ(from_outside().find({8, 12345, 0}, 0).kind, Located::Kind::nobody);
}

TEST_F(PidNamespacesTest, WithoutANamespaceThereIsNoProcess) {
    EXPECT_EQ(from_outside().find({7, 0, 0}, 0).kind, Located::Kind::cannot_see);
}

TEST_F(PidNamespacesTest, WhoHasOneNameLivesHere) {
    show(500, {.pids = "500", .in = ours});
    show(501, {.pids = "501\t7"});
    fs::remove(proc() + "/500/ns/pid");
    fs::remove(proc() + "/501/ns/pid");

    EXPECT_EQ(from_outside().of(500), inode(ours));
    EXPECT_EQ(from_outside().of(501), 0U);
    EXPECT_EQ(from_outside().of(999), 0U);
}

/// A process in a pid namespace in a pid namespace, as a container in a container has them.
class NestedProcess {
  public:
    NestedProcess() {
        std::array<int, 2> ready{};
        if (::pipe2(ready.data(), O_CLOEXEC) != 0) return;
        top_ = ::fork();
        if (top_ == 0) {
            // Each one starts the next in a new namespace, and all end with the first.
            for (int depth = 0; depth < 2; ++depth) {
                ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
                const pid_t next = ::fork();
                if (next > 0 && depth == 0) say(ready[1], next);
                if (next != 0) {
                    for (;;) ::pause();
                }
            }
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            say(ready[1], 0);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        // In either order.
        for (int said = 0; said < 2; ++said) {
            pid_t pid = 0;
            is_there_ = ::read(ready[0], &pid, sizeof pid) == sizeof pid;
            outer_ = std::max(outer_, pid);
        }
        ::close(ready[0]);
    }
    ~NestedProcess() {
        ::kill(top_, SIGKILL);
        ::waitpid(top_, nullptr, 0);
    }
    NestedProcess(const NestedProcess&) = delete;
    NestedProcess& operator=(const NestedProcess&) = delete;

    bool is_there() const { return is_there_; }
    /// The first process of the outer namespace, by its pid here.
    pid_t outer() const { return outer_; }
    std::uint64_t outer_namespace() const {
        struct stat status{};
        const auto link = fmt::format("/proc/{}/ns/pid", outer_);
        return ::stat(link.c_str(), &status) == 0 ? status.st_ino : 0;
    }

  private:
    static void say(int fd, pid_t pid) {
        [[maybe_unused]] const auto written = ::write(fd, &pid, sizeof pid);
    }

    pid_t top_ = -1;
    pid_t outer_ = 0;
    bool is_there_ = false;
};

TEST(NestedPidNamespaces, AProcessIsFoundByItsNumberInBetween) {
    const NestedProcess nested;
    if (!nested.is_there()) GTEST_SKIP() << "needs to be allowed to make pid namespaces";
    const PidNamespaces namespaces;

    // 2 in the outer namespace, 1 in the inner one.
    const auto inner = namespaces.find({2, nested.outer_namespace(), 0}, 0);
    const auto outer = namespaces.find({1, nested.outer_namespace(), 0}, 0);

    EXPECT_EQ(outer.kind, Located::Kind::here) << outer.why;
    EXPECT_EQ(outer.pid, nested.outer()) << "its 1 is not the 1 further inside";
    ASSERT_EQ(inner.kind, Located::Kind::here) << inner.why;
    EXPECT_EQ(read_proc_stat(inner.pid)->parent, nested.outer());
}

}  // namespace
}  // namespace knell
