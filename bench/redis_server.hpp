#pragma once

#include <memory>

#include "lab.hpp"
#include "peer_process.hpp"

namespace knell::bench {

inline constexpr int redis_port = 16379;

/// A Redis that has each write on disk before it answers, in a home of its own.
class RedisServer {
  public:
    explicit RedisServer(const Lab& lab);

    pid_t pid() const { return process_.pid(); }

  private:
    const std::unique_ptr<TemporaryDirectory> home_;
    const PeerProcess process_;
};

}  // namespace knell::bench
