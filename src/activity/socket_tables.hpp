#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <sys/types.h>

#include "activity/socket_table.hpp"
#include "base/time.hpp"

namespace knell {

/// The sockets of each network namespace that somebody asks about, each read at most once a round,
/// and not at all in rounds that come too soon after it.  One thread.
class SocketTables {
  public:
    /// `own`: the namespace of this process.
    SocketTables(std::string proc, std::uint64_t own) : proc_(std::move(proc)), own_(own) {}

    void begin_round(SteadyTime now);
    /// `pid` lives in `network`.  Null when its sockets cannot be read.
    const SocketTable* find(std::uint64_t network, pid_t pid, SteadyTime now);

  private:
    struct Kept {
        std::unique_ptr<SocketTable> table;  // null: could not be read
        SteadyTime read_at{};
        std::uint64_t round = 0;
        std::chrono::seconds good_for{0};
        SteadyTime asked_at{};
    };
    Kept read(std::uint64_t network, pid_t pid) const;

    const std::string proc_;
    const std::uint64_t own_;
    std::uint64_t round_ = 1;
    std::map<std::uint64_t, Kept> kept_;  // by namespace
};

}  // namespace knell
