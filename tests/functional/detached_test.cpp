// A daemon in the background: what it takes from the shell that started it, and its log.

#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Detached : public testing::Test {
  protected:
    /// Starts one from a shell that says `before` first; its pid.
    pid_t up(const std::string& before, const Environment& more = {}) {
        auto spawn = home.command({});
        spawn.argv = {"sh", "-c", before + "\nexec \"$0\" up --detach", knell_binary()};
        spawn.environment.insert(more.begin(), more.end());
        const auto outcome = run_command(spawn);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return static_cast<pid_t>(number(status(), "pid"));
    }
    Json status() const { return Client(home.socket()).must("node.status"); }
    static std::string environment_of(pid_t pid) {
        return read_file(fmt::format("/proc/{}/environ", pid));
    }
    /// "Name:\tvalue" of /proc/PID/status.
    static std::string status_line(pid_t pid, std::string_view name) {
        std::istringstream text(read_file(fmt::format("/proc/{}/status", pid)));
        for (std::string line; std::getline(text, line);) {
            if (line.starts_with(name)) return line;
        }
        return {};
    }
    static constexpr auto allowed_cpus_first = "Cpus_allowed_list:\t0";
    static std::string allowed_cpus(pid_t pid) { return status_line(pid, "Cpus_allowed_list:"); }
    static rlim_t soft_limit(pid_t pid, __rlimit_resource resource) {
        rlimit limit{};
        EXPECT_EQ(prlimit(pid, resource, nullptr, &limit), 0);
        return limit.rlim_cur;
    }
    static rlim_t hard_limit(pid_t pid, __rlimit_resource resource) {
        rlimit limit{};
        EXPECT_EQ(prlimit(pid, resource, nullptr, &limit), 0);
        return limit.rlim_max;
    }

    const TempHome home;
};

TEST_F(Detached, KeepsNoSecretOfTheShellThatStartedIt) {
    const auto pid = up("", {{"SOME_API_KEY", "hush"}, {"LC_ALL", "C"}, {"TZ", "UTC"}});

    const auto environment = environment_of(pid);
    EXPECT_THAT(environment, Not(HasSubstr("hush")));
    EXPECT_THAT(environment, HasSubstr("LC_ALL=C"));
    EXPECT_THAT(environment, HasSubstr("TZ=UTC"));
    EXPECT_THAT(environment, HasSubstr("KNELL_HOME=" + home.path()));
}

TEST_F(Detached, KeepsTheSecretsThatItsConfigNames) {
    write_file(home.file("config.yaml"),
               "webhooks:\n  - name: ops\n    url: https://example.org/\n"
               "    events: [\"session:end\"]\n    secret_env: OPS_SECRET\n");

    const auto pid = up("", {{"OPS_SECRET", "whsec_wanted"}, {"OTHER_SECRET", "unwanted"}});

    EXPECT_THAT(environment_of(pid), HasSubstr("OPS_SECRET=whsec_wanted"));
    EXPECT_THAT(environment_of(pid), Not(HasSubstr("unwanted")));
}

TEST_F(Detached, UndoesTheLimitsOfTheShellThatStartedIt) {
    const auto pid =
        up("ulimit -S -n 256; ulimit -S -v 8000000; ulimit -S -t 5000; "
           "ulimit -S -f 9000; ulimit -S -c unlimited");

    for (const auto resource : {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE}) {
        EXPECT_EQ(soft_limit(pid, resource), hard_limit(pid, resource)) << int{resource};
    }
    EXPECT_EQ(soft_limit(pid, RLIMIT_CORE), 0U);
    EXPECT_THAT(array(status(), "degraded"), IsEmpty());
}

TEST_F(Detached, UndoesNicenessOrSaysThatItCannot) {
    auto spawn = home.command({});
    spawn.argv = {"nice", "-n", "7", knell_binary(), "up", "--detach"};
    ASSERT_EQ(run_command(spawn).status, 0);
    const auto found = status();

    const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(number(found, "pid")));

    if (nice == 0) {
        EXPECT_THAT(array(found, "degraded"), IsEmpty());
    } else {
        EXPECT_THAT(text(found, "degraded.0"), HasSubstr("niceness 7"));
    }
}

TEST_F(Detached, UndoesThePrioritiesOfTheShellThatStartedIt) {
    const auto before = allowed_cpus(getpid());

    const auto pid =
        up("echo 500 > /proc/self/oom_score_adj; taskset -cp 0 $$ >/dev/null; "
           "ionice -c 3 -p $$; chrt --batch -p 0 $$; umask 0");

    EXPECT_EQ(read_file(fmt::format("/proc/{}/oom_score_adj", pid)), "0\n");
    // Where there is more than one to be had.
    if (before != allowed_cpus_first) {
        EXPECT_NE(allowed_cpus(pid), allowed_cpus_first);
    }
    EXPECT_EQ(syscall(SYS_ioprio_get, 1, pid), 0);
    EXPECT_EQ(sched_getscheduler(pid), SCHED_OTHER);
    EXPECT_THAT(status_line(pid, "Umask:"), HasSubstr("0077"));
    EXPECT_EQ(fs::read_symlink(fmt::format("/proc/{}/cwd", pid)), "/");
}

TEST_F(Detached, WhatHoldsADaemonBackIsInItsStatus) {
    Daemon daemon(home, {.descriptors_max = 512, .file_bytes_max = 50'000'000});

    const auto reasons = array(status(), "degraded");

    std::vector<std::string> texts;
    for (const auto& reason : reasons) texts.emplace_back(reason.as_string());
    EXPECT_THAT(texts, Contains(HasSubstr("files are limited to 50000000 bytes")));
    EXPECT_THAT(texts, Contains(HasSubstr("may open 512 files only")));
}

TEST_F(Detached, ALogThatIsFullIsRotated) {
    const auto log = home.file("knell.log");
    write_file(log, std::string(9U << 20U, 'x'));
    fs::permissions(log, fs::perms(0644));

    up("");

    EXPECT_EQ(fs::file_size(log + ".1"), 9U << 20U);
    EXPECT_THAT(read_file(log), HasSubstr("listens at"));
    struct stat found{};
    ASSERT_EQ(stat(log.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0600U);
}

TEST_F(Detached, AHangupGoesOnInANewLog) {
    const auto pid = up("");
    const auto log = home.file("knell.log");
    fs::rename(log, log + ".moved");

    ::kill(pid, SIGHUP);

    // Whichever comes first, the signal or the look of once a second.
    const Stray daemon(pid);
    for (int tries = 0; tries < 3000 && !read_file(log).contains("SIGHUP"); ++tries) {
        status();
    }
    EXPECT_THAT(read_file(log), HasSubstr("SIGHUP: reading"));
    EXPECT_TRUE(daemon.is_running());
}

}  // namespace
}  // namespace knell::functional
