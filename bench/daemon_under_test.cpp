#include "daemon_under_test.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/connection.hpp"
#include "must.hpp"
#include "platform/directories.hpp"
#include "platform/small_file.hpp"
#include "samples.hpp"

namespace knell::bench {

namespace {

constexpr std::chrono::seconds answer_max{120};

/// The number after `name` in a file of /proc, in kB there.
std::int64_t bytes_after(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    if (at == std::string_view::npos) return 0;
    return std::strtoll(text.data() + at + name.size(), nullptr, 10) * 1024;
}

/// Only what is safe between fork and exec.
[[noreturn]] void become_daemon(const std::string& program, const std::string& log,
                                const char* http) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execl(program.c_str(), program.c_str(), "up", "--http", http, nullptr);
    _exit(127);
}

}  // namespace

Paths paths_in(const std::string& home) {
    return Paths::from(
        {.variable =
             [&](const char* name) { return std::string_view(name) == "KNELL_HOME" ? home : ""; },
         .home = home,
         .cwd = "/",
         .uid = geteuid()});
}

DaemonUnderTest::DaemonUnderTest(std::string program, std::string home, Http http)
    : program_(std::move(program)), paths_(paths_in(home)) {
    must(make_private_directories(paths_.state_dir));
    setenv("KNELL_HOME", home.c_str(), 1);
    unsetenv("KNELL_SOCKET");
    const auto start = seconds_now();
    pid_ = fork();
    must(pid_ >= 0, "cannot fork");
    const auto* listen = http == Http::on ? "127.0.0.1:0" : "off";
    if (pid_ == 0) become_daemon(program_, paths_.log_file, listen);
    wait_for_answer();
    seconds_to_answer_ = seconds_now() - start;
}

DaemonUnderTest::~DaemonUnderTest() {
    end(SIGKILL);
}

void DaemonUnderTest::wait_for_answer() {
    const client::Deadline deadline{answer_max};
    while (!deadline.passed()) {
        if (auto connection = client::Connection::open(paths_.socket, deadline)) {
            if (connection->call("node.status", {}, deadline)) return;
        }
        if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
            pid_ = -1;
            throw Failed(fmt::format("{} up: {}", program_,
                                     read_small_file(paths_.log_file).value_or("no log")));
        }
        poll(nullptr, 0, /*timeout=*/1);
    }
    end(SIGKILL);
    throw Failed("the daemon does not answer");
}

WebAddress DaemonUnderTest::web() const {
    const auto address = read_small_file(paths_.state_dir + "/http.addr").value_or("");
    auto token = read_small_file(paths_.state_dir + "/token").value_or("");
    if (address.empty() || token.empty()) throw Failed("the daemon does not serve HTTP");
    while (token.ends_with('\n')) token.pop_back();
    return {std::atoi(address.substr(address.rfind(':') + 1).c_str()), std::move(token)};
}

Memory memory_of(pid_t pid) {
    const auto text = read_small_file(fmt::format("/proc/{}/smaps_rollup", pid)).value_or("");
    return {bytes_after(text, "\nRss:"), bytes_after(text, "\nPss:"),
            bytes_after(text, "\nAnonymous:")};
}

double DaemonUnderTest::cpu_seconds() const {
    // Not /proc/PID/stat: that counts in hundredths of a second.
    clockid_t clock{};
    timespec spent{};
    if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &spent) != 0) {
        throw Failed("the processor time of the daemon cannot be read");
    }
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

std::int64_t disk_bytes_of(pid_t pid) {
    constexpr std::string_view name = "\nwrite_bytes: ";
    const auto text = read_small_file(fmt::format("/proc/{}/io", pid)).value_or("");
    const auto at = text.find(name);
    if (at == std::string::npos) throw Failed("what a process writes to disk cannot be read");
    return std::strtoll(text.c_str() + at + name.size(), nullptr, 10);
}

void DaemonUnderTest::end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void DaemonUnderTest::kill() {
    end(SIGKILL);
}
void DaemonUnderTest::stop() {
    end(SIGTERM);
}

}  // namespace knell::bench
