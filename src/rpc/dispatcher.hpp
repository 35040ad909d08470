#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "rpc/attachments.hpp"
#include "rpc/backend.hpp"
#include "rpc/call_order.hpp"
#include "rpc/caller.hpp"
#include "rpc/method.hpp"
#include "rpc/stream.hpp"
#include "wire/envelope.hpp"

namespace knell::rpc {

/// Finds the method of a call and runs it.  Knows neither sockets nor how an answer is framed; one
/// thread.
class Dispatcher {
  public:
    explicit Dispatcher(Backend& backend) : backend_(backend) {}

    /// Who connected to the unix socket.  `pidfd` (or -1) is the kernel's handle of that very
    /// process: while it lives, what /proc says under its pid is about it and nobody else.
    UnixPeer identify(pid_t pid, uid_t uid, int pidfd) const;

    /// For whoever connects, by whatever transport.
    ConnectionId new_connection() { return ConnectionId{++last_connection_}; }

    /// Gets the answer exactly once, now or later, on this thread; nothing for a notification.
    using Reply = std::move_only_function<void(std::optional<wire::Answer>)>;

    /// A call as its client wrote it, one JSON object.
    void handle(std::string_view text, const Caller& caller, Reply reply, Stream* stream = nullptr);
    /// One that was read by then, or that no client wrote as JSON.
    void run(wire::Request&& request, const Caller& caller, Reply reply, Stream* stream = nullptr);

    /// Answers a call without doing what it asks.
    static void refuse(std::string_view text, Error why, Reply reply);

    /// From now on the rows that methods ask for are noted: for a test, which keeps the trace.
    void trace(wire::FieldTrace& trace) { trace_ = &trace; }

    /// That connection is closed: what it only wanted to know is not looked up any more, and it
    /// looks at no session.
    void hung_up(ConnectionId connection);
    /// Whether the client of that connection leaves so much unread that nothing more is looked up
    /// for it.
    void hold_reads(ConnectionId connection, bool is_held) {
        backend_.hold_reads(connection, is_held);
    }
    /// That generation of a session has ended, and all that was published of it: who looked at it
    /// does no longer.
    void release(const SessionId& session, Generation generation);
    std::size_t attachment_count() const { return attachments_.size(); }

  private:
    Backend& backend_;
    wire::FieldTrace* trace_ = nullptr;
    CallOrder order_;
    Attachments attachments_;
    /// Of connections that had a call queued behind another.
    std::unordered_map<ConnectionId, Stream*> streams_;
    std::uint64_t last_call_ = 0;
    std::uint64_t last_connection_ = 0;
};

}  // namespace knell::rpc
