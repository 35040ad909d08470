#include "peer_process.hpp"

#include <csignal>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.hpp"

namespace knell::bench {

PeerProcess::PeerProcess(const std::vector<std::string>& command, const std::string& log)
    : pid_(fork()) {
    must(pid_ >= 0, "fork");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv.front(), argv.data());
    _exit(127);
}

PeerProcess::~PeerProcess() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

bool is_installed(const std::string& program) {
    return access(("/usr/bin/" + program).c_str(), X_OK) == 0 ||
           access(("/usr/sbin/" + program).c_str(), X_OK) == 0;
}

Fd connect_loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int attempt = 0; attempt < 200; ++attempt) {
        Fd connection{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        if (connect(connection.get(), generic, sizeof address) == 0) {
            const int on = 1;
            setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return connection;
        }
        poll(nullptr, 0, 50);
    }
    throw Failed("nobody listens on port " + std::to_string(port));
}

void LoopbackStream::send(std::string_view text) {
    while (!text.empty()) {
        const auto sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
        must(sent > 0, "send");
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void LoopbackStream::fill() {
    char bytes[65536];
    const auto got = recv(socket_.get(), bytes, sizeof bytes, 0);
    must(got > 0, "recv");
    buffer_.append(bytes, static_cast<std::size_t>(got));
}

std::string LoopbackStream::read_line() {
    for (;;) {
        if (const auto end = buffer_.find("\r\n"); end != std::string::npos) {
            auto line = buffer_.substr(0, end);
            buffer_.erase(0, end + 2);
            return line;
        }
        fill();
    }
}

std::string LoopbackStream::read_bytes(std::size_t count) {
    while (buffer_.size() < count) fill();
    auto bytes = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return bytes;
}

}  // namespace knell::bench
