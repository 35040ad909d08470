#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "platform/fd.hpp"

namespace knell::bench {

/// A server of another project, on loopback, for as long as this object lives.
class PeerProcess {
  public:
    PeerProcess(const std::vector<std::string>& command, const std::string& log);
    ~PeerProcess();
    PeerProcess(const PeerProcess&) = delete;
    PeerProcess& operator=(const PeerProcess&) = delete;

    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

/// Whether a program can be run: peers are optional on a developer's machine.
bool is_installed(const std::string& program);

/// A TCP connection to 127.0.0.1.  Tries until somebody listens, for up to ten seconds.
Fd connect_loopback(int port);

/// A TCP connection to 127.0.0.1 that reads lines and counted bytes.
class LoopbackStream {
  public:
    explicit LoopbackStream(int port) : socket_(connect_loopback(port)) {}

    void send(std::string_view text);
    std::string read_line();  // without its end
    std::string read_bytes(std::size_t count);

  private:
    void fill();

    Fd socket_;
    std::string buffer_;
};

}  // namespace knell::bench
