#include "testing/fake_daemon.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.hpp"
#include "platform/lock_file.hpp"

namespace knell::testing {

namespace {

Fd listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    CHECK(path.size() < sizeof address.sun_path);
    std::ranges::copy(path, std::begin(address.sun_path));
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK(::listen(fd.get(), 8) == 0);
    return fd;
}

/// "" at the end of the stream.
std::string read_line(int fd) {
    std::string line;
    for (char byte = 0; ::recv(fd, &byte, 1, 0) == 1 && byte != '\n';) line += byte;
    return line;
}

/// Answers until its client leaves.  Ids count from 1: each call is the next.
void serve(int client, const FakeDaemon::Manners& manners) {
    for (int id = 1;; ++id) {
        const auto line = read_line(client);
        if (line.empty()) return;
        std::string answer = fmt::format(R"("result":{{"home":"{}"}})", manners.home);
        if (!manners.knows_its_status) answer = R"("error":{"code":-32004,"message":"no disk"})";
        if (manners.answer) {
            if (auto said = manners.answer(line); !said.empty()) answer = std::move(said);
        }
        if (line.contains("node.stop")) {
            if (manners.stops) ::_exit(0);
            answer = manners.answer_to_stop;
        }
        answer = fmt::format(R"({{"jsonrpc":"2.0","id":{},{}}})", id, answer) + "\n";
        ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
}

}  // namespace

Paths paths_in(const std::string& folder) {
    return Paths::from({.variable =
                            [&](const char* name) {
                                return std::string_view(name) == "KNELL_HOME" ? folder
                                                                              : std::string{};
                            },
                        .home = folder,
                        .cwd = folder,
                        .uid = ::getuid()});
}

FakeDaemon::FakeDaemon(const Paths& paths, Manners manners) {
    std::array<int, 2> ends{};
    CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const Fd reading{ends[0]};
    Fd writing{ends[1]};
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) live(paths, manners, writing.get());
    writing.reset();
    char ready = 0;
    CHECK(::read(reading.get(), &ready, 1) == 1);
}

void FakeDaemon::live(const Paths& paths, const Manners& manners, int ready) {
    ::signal(SIGTERM, manners.heeds_sigterm ? SIG_DFL : SIG_IGN);
    const auto& named = manners.says_it_listens_at;
    const auto lock = LockFile::acquire(
        paths.lock_file,
        {.home = paths.state_dir, .socket = named.empty() ? paths.listen_socket : named});
    CHECK(lock && *lock);
    const Fd listener = manners.listens ? listen_at(paths.listen_socket) : Fd{};
    CHECK(::write(ready, "r", 1) == 1);
    for (;;) {
        if (!listener) {
            ::pause();
            continue;
        }
        const Fd client{::accept(listener.get(), nullptr, nullptr)};
        serve(client.get(), manners);
    }
}

FakeDaemon::~FakeDaemon() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

bool FakeDaemon::is_running() const {
    siginfo_t info{};
    // Only looked at: the number stays its own until this goes.
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

void FakeDaemon::wait_until_dead() const {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
}

}  // namespace knell::testing
