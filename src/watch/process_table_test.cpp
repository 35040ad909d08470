// Looks at one process, with a kernel that answers and fails as a test says.

#include "watch/process_table.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/small_file.hpp"
#include "watch/process_check.hpp"

namespace knell {
namespace {

constexpr pid_t nobodys_pid = 0x7ffffff0;  // no kernel gives it out
constexpr std::uint64_t ticks = 77;

enum class Answer : std::uint8_t { alive, gone, unclear };

/// What the kernel says.
struct Kernel {
    int pidfd_open = 0;  // an errno, or 0: there is one
    int stat = 0;        // an errno, or 0: it can be read; -1: it is torn
    std::uint64_t start = ticks;
    char state = 'S';
    int poll = 0;  // what poll(2) gives
    int probe = 0;
    bool has_living_thread = false;
};
struct Row {
    std::string_view name;
    Kernel kernel;
    Answer answer;
};

class TableOf {
  public:
    explicit TableOf(const Kernel& kernel) : kernel_(kernel) {}

    Finding look() const { return look_for(process(), table); }
    ProcessIdentity process() const {
        return {nobodys_pid, ticks, table.own_pid_namespace(), table.boot_id()};
    }

    mutable int stats = 0;
    mutable int probes = 0;
    std::vector<int> stat_errors;  // of the first calls, before `kernel`
    const ProcTable table{{
        .pidfd_open =
            [this](pid_t pid) {
                EXPECT_EQ(pid, nobodys_pid);
                if (kernel_.pidfd_open == 0) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
                errno = kernel_.pidfd_open;
                return -1;
            },
        .poll_pidfd =
            [this](int pidfd) {
                EXPECT_GE(pidfd, 0);
                errno = EINTR;
                return kernel_.poll;
            },
        .stat = [this](pid_t pid) -> std::optional<ProcStat> {
            EXPECT_EQ(pid, nobodys_pid);
            const auto call = static_cast<std::size_t>(stats++);
            const int error = call < stat_errors.size() ? stat_errors[call] : kernel_.stat;
            if (error > 0) errno = error;
            if (error != 0) return std::nullopt;
            ProcStat stat;
            stat.start_ticks = kernel_.start;
            stat.state = kernel_.state;
            return stat;
        },
        .has_living_thread = [this](pid_t) { return kernel_.has_living_thread; },
        .probe =
            [this](pid_t pid) {
                EXPECT_EQ(pid, nobodys_pid);
                ++probes;
                errno = kernel_.probe;
                return kernel_.probe == 0 ? 0 : -1;
            },
    }};

  private:
    const Kernel kernel_;
};

Answer answer_of(const Finding& finding) {
    if (std::holds_alternative<StillThere>(finding)) return Answer::alive;
    return std::holds_alternative<Gone>(finding) ? Answer::gone : Answer::unclear;
}

const std::vector<Row> rows{
    // With a descriptor.
    {"runs", {}, Answer::alive},
    {"has ended", {.poll = 1}, Answer::gone},
    {"has ended, a zombie", {.state = 'Z', .poll = 1}, Answer::gone},
    {"its first thread has ended", {.state = 'Z', .poll = 0}, Answer::alive},
    {"poll fails", {.poll = -1}, Answer::alive},
    {"a stranger", {.start = ticks + 1}, Answer::gone},
    {"an older stranger", {.start = ticks - 1}, Answer::gone},
    {"/proc hides it", {.stat = ENOENT}, Answer::unclear},
    {"/proc may not be read", {.stat = EACCES}, Answer::unclear},
    {"torn", {.stat = -1}, Answer::unclear},
    {"no memory to read", {.stat = ENOMEM}, Answer::unclear},
    {"the last descriptor", {.stat = EMFILE}, Answer::unclear},
    {"vanished between open and read", {.stat = ESRCH, .poll = 1}, Answer::gone},
    // pidfd_open says why not.
    {"nobody", {.pidfd_open = ESRCH}, Answer::gone},
    {"EMFILE", {.pidfd_open = EMFILE}, Answer::alive},
    {"ENFILE", {.pidfd_open = ENFILE}, Answer::alive},
    {"ENOMEM", {.pidfd_open = ENOMEM}, Answer::alive},
    {"EPERM", {.pidfd_open = EPERM}, Answer::alive},
    {"EINVAL", {.pidfd_open = EINVAL}, Answer::alive},
    {"ENOSYS", {.pidfd_open = ENOSYS}, Answer::alive},
    {"EACCES", {.pidfd_open = EACCES}, Answer::alive},
    {"EMFILE, a stranger", {.pidfd_open = EMFILE, .start = ticks + 1}, Answer::gone},
    {"EMFILE, a zombie", {.pidfd_open = EMFILE, .state = 'Z'}, Answer::gone},
    {"EMFILE, dead", {.pidfd_open = EMFILE, .state = 'X'}, Answer::gone},
    {"EMFILE, its first thread has ended",
     {.pidfd_open = EMFILE, .state = 'Z', .has_living_thread = true},
     Answer::alive},
    {"EMFILE, stopped", {.pidfd_open = EMFILE, .state = 'T'}, Answer::alive},
    // Neither: the last word is kill(2)'s.
    {"no descriptor at all", {.pidfd_open = EMFILE, .stat = EMFILE}, Answer::unclear},
    {"none in the system", {.pidfd_open = ENFILE, .stat = ENFILE}, Answer::unclear},
    {"nothing works", {.pidfd_open = ENOSYS, .stat = EACCES}, Answer::unclear},
    {"torn, no descriptor", {.pidfd_open = ENOSYS, .stat = -1}, Answer::unclear},
    {"another user's", {.pidfd_open = ENOSYS, .stat = ENOENT, .probe = EPERM}, Answer::unclear},
    {"nobody, says kill", {.pidfd_open = EMFILE, .stat = EMFILE, .probe = ESRCH}, Answer::gone},
    {"nobody, says kill of a hidden one",
     {.pidfd_open = ENOSYS, .stat = ENOENT, .probe = ESRCH},
     Answer::gone},
};

TEST(ProcessTable, EveryAnswerOfTheKernelIsAliveGoneOrUnclear) {
    for (const auto& [name, kernel, answer] : rows) {
        const TableOf table(kernel);
        const auto finding = table.look();
        EXPECT_EQ(static_cast<int>(answer_of(finding)), static_cast<int>(answer)) << name;
        if (const auto* there = std::get_if<StillThere>(&finding)) {
            EXPECT_EQ(there->pidfd.get() >= 0, kernel.pidfd_open == 0) << name;
        }
        if (const auto* unclear = std::get_if<CannotTell>(&finding)) {
            EXPECT_FALSE(unclear->why.ends_with(": ")) << name << " says why";
            EXPECT_EQ(unclear->why.find("Success"), std::string::npos) << name;
        }
        if (const auto* gone = std::get_if<Gone>(&finding)) {
            EXPECT_EQ(gone->departure.kind, Departure::Kind::lost) << name;
            EXPECT_FALSE(gone->departure.evidence.empty()) << name;
        }
        const bool was_asked_last =
            kernel.pidfd_open != 0 && kernel.pidfd_open != ESRCH && kernel.stat != 0;
        EXPECT_EQ(table.probes, was_asked_last ? 1 : 0) << name;
    }
}

TEST(ProcessTable, TheDescriptorThatIsKeptBackIsForTheProofOfLife) {
    for (const auto error : {EMFILE, ENFILE}) {
        TableOf table({.pidfd_open = error});
        table.stat_errors = {error};
        EXPECT_EQ(answer_of(table.look()), Answer::alive);
        EXPECT_EQ(table.stats, 2);
    }
    TableOf table({.stat = EACCES});
    EXPECT_EQ(answer_of(table.look()), Answer::unclear);
    EXPECT_EQ(table.stats, 1) << "that would not help";
}

TEST(ProcessTable, WhatTheSystemSaidIsTold) {
    const TableOf table({.pidfd_open = EMFILE, .stat = EMFILE});
    EXPECT_EQ(std::get<CannotTell>(table.look()).why,
              "/proc tells nothing of process 2147483632: Too many open files");
    const TableOf hidden({.stat = ENOENT});
    EXPECT_EQ(std::get<CannotTell>(hidden.look()).why,
              "/proc tells nothing of process 2147483632: No such file or directory");
    const TableOf torn({.stat = -1});
    EXPECT_EQ(std::get<CannotTell>(torn.look()).why,
              "/proc tells nothing of process 2147483632: what it says cannot be understood");
}

TEST(ProcessTable, AnotherBootIsTheEndOfAllWithoutALook) {
    const TableOf table({});
    auto process = table.process();
    process.boot_id = "another";
    const auto finding = look_for(process, table.table);
    ASSERT_TRUE(std::holds_alternative<Gone>(finding));
    EXPECT_EQ(std::get<Gone>(finding).departure.kind, Departure::Kind::host_restart);
    EXPECT_EQ(table.stats, 0);
    process.boot_id = "";  // not known: proves nothing
    EXPECT_EQ(answer_of(look_for(process, table.table)), Answer::alive);
}

TEST(ProcessTable, OfAnotherNamespaceNothingIsSaidOfThePidHere) {
    const TableOf table({.start = ticks + 1});
    auto process = table.process();
    process.pid_namespace = 0;
    EXPECT_EQ(answer_of(look_for(process, table.table)), Answer::unclear);
    EXPECT_EQ(table.stats, 0);
}

TEST(ProcessTable, TheRealKernelKnowsThisProcess) {
    const ProcTable table;
    const auto self = table.identify(::getpid());
    ASSERT_TRUE(self);
    EXPECT_EQ(self->pid, ::getpid());
    EXPECT_EQ(self->pid_namespace, table.own_pid_namespace());
    EXPECT_EQ(self->boot_id, table.boot_id());
    EXPECT_EQ(answer_of(look_for(*self, table)), Answer::alive);
    auto other = *self;
    ++other.start_ticks;
    EXPECT_EQ(answer_of(look_for(other, table)), Answer::gone);
    EXPECT_EQ(table.parent_of(::getpid()), ::getppid());
    EXPECT_TRUE(table.is_knell(::getpid()));
    EXPECT_FALSE(table.is_knell(0));
    EXPECT_FALSE(table.is_knell(-1));
    EXPECT_FALSE(table.is_knell(nobodys_pid));
    EXPECT_FALSE(table.identify(nobodys_pid));
    EXPECT_FALSE(table.parent_of(nobodys_pid));
}

TEST(ProcessTable, TheRealKernelTellsWhatThisProcessLooksLike) {
    const ProcTable table;
    const auto self = table.identify(::getpid());
    ASSERT_TRUE(self);
    const auto look = table.look_of(*self);
    ASSERT_TRUE(look);
    EXPECT_EQ(look->uid, ::getuid());
    EXPECT_EQ(table.own_uid(), ::geteuid());
    ASSERT_FALSE(look->argv.empty());
    EXPECT_TRUE(look->argv.front().contains("knell_unit_tests")) << look->argv.front();
    EXPECT_EQ(look->cwd, std::filesystem::current_path().string());
    auto former = *self;
    --former.start_ticks;
    EXPECT_FALSE(table.look_of(former)) << "its pid is another's now";
}

TEST(ProcessTable, AThreadOfTheKernelHasNoWords) {
    if (read_small_file("/proc/2/comm").value_or("") != "kthreadd\n") {
        GTEST_SKIP() << "none can be seen in this pid namespace";
    }
    const ProcTable table;
    const auto thread = table.identify(2);
    ASSERT_TRUE(thread);
    const auto look = table.look_of(*thread);
    ASSERT_TRUE(look);
    EXPECT_TRUE(look->argv.empty()) << look->argv.front();
}

}  // namespace
}  // namespace knell
