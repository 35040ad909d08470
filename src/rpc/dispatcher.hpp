#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rpc/backend.hpp"
#include "rpc/caller.hpp"
#include "rpc/method.hpp"
#include "rpc/stream.hpp"
#include "wire/envelope.hpp"

namespace knell::rpc {

/// Finds the method of a line and runs it.  Knows no sockets; one thread.
class Dispatcher {
  public:
    explicit Dispatcher(Backend& backend) : backend_(backend) {}

    /// Who connected to the unix socket.  `pidfd` (or -1) is the kernel's handle of that very
    /// process: while it lives, what /proc says under its pid is about it and nobody else.
    UnixPeer identify(pid_t pid, uid_t uid, int pidfd) const;

    /// `reply` gets the answer line exactly once, now or later, on this thread; a notification gets
    /// an empty one.
    void handle(std::string_view line, const Caller& caller,
                std::move_only_function<void(std::string)> reply, Stream* stream = nullptr);

    /// Answers a line without doing what it asks.
    void refuse(std::string_view line, const Error& why,
                std::move_only_function<void(std::string)> reply) const;

    /// From now on the rows that methods ask for are noted: for a test, which keeps the trace.
    void trace(wire::FieldTrace& trace) { trace_ = &trace; }

    /// That connection is closed: what it only wanted to know is not looked up any more.
    void hung_up(ConnectionId connection) { backend_.drop_reads(connection); }

  private:
    Backend& backend_;
    wire::FieldTrace* trace_ = nullptr;
};

}  // namespace knell::rpc
