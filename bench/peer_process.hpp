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

  private:
    pid_t pid_;
};

/// Whether a program can be run: peers are optional on a developer's machine.
bool is_installed(const std::string& program);

/// A TCP connection to 127.0.0.1 that reads lines and counted bytes.
class LoopbackStream {
  public:
    /// Tries until somebody listens, for up to ten seconds.
    explicit LoopbackStream(int port);

    void send(std::string_view text);
    std::string read_line();  // without its end
    std::string read_bytes(std::size_t count);
    /// A line if one comes within `milliseconds`; false when none does.
    bool wait_readable(int milliseconds);

  private:
    void fill();

    Fd socket_;
    std::string buffer_;
};

}  // namespace knell::bench
