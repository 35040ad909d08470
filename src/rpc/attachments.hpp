#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/session.hpp"
#include "rpc/caller.hpp"
#include "rpc/stream.hpp"

namespace knell::rpc {

/// What a connection has of sessions: which it looks at, and whose turn it began.  To tell each who
/// else is there, and to know what goes with a connection.  How many look at a session is decided
/// by the engine.
///
/// Holds at least what the engine does: an entry is made before the engine is asked (*asked*), and
/// goes only when the engine surely has none.  `confirm` says that it has (*confirmed*, by the
/// generation); `refused` drops what is only asked; `left` drops it when the engine has.  Tickets
/// tell a call from a later one for the same session, whose entry it must not touch.
///
/// A connection is taken out as a whole when it is closed.  One thread, the dispatcher's.
class Attachments {
  public:
    enum class Kind : std::uint8_t { look, turn };
    using Ticket = std::uint64_t;  // 0: none

    struct Who {
        ConnectionId connection = ConnectionId::none;
        std::string name;  // as evidence has it
    };

    Ticket enter(Kind kind, const Who& who, Stream& stream, const SessionId& session);
    void confirm(Kind kind, ConnectionId connection, const SessionId& session,
                 Generation generation);
    void refused(Kind kind, ConnectionId connection, const SessionId& session, Ticket ticket);
    /// `ticket`: as it was when the engine was asked to let go of it.
    void left(Kind kind, ConnectionId connection, const SessionId& session, Ticket ticket);
    Ticket ticket_of(Kind kind, ConnectionId connection, const SessionId& session) const;

    /// What a session tells goes to that feed of a connection that looks at it.
    void set_feed(ConnectionId connection, const SessionId& session, std::uint64_t feed);
    /// Gives it away, 0 where there is none.
    std::uint64_t take_feed(ConnectionId connection, const SessionId& session);

    /// Sessions that it looks at.
    std::size_t count(ConnectionId connection) const;
    /// nullptr: it is closed, or has nothing here.
    Stream* stream_of(ConnectionId connection) const;
    /// Who else looks at it, the earliest first; not more than `max`.
    std::vector<std::string> others(ConnectionId connection, const SessionId& session,
                                    std::size_t max) const;

    /// That generation has ended, and the engine has forgotten whom it had.  Gives their feeds.
    std::vector<std::uint64_t> release(const SessionId& session, Generation generation);

    struct Taken {
        std::vector<SessionId> sessions;  // that it looked at
        std::vector<SessionId> turns;     // that it began, by their sessions
    };
    /// The connection is closed.
    Taken take(ConnectionId connection);

    /// All that look at a session, by the session.
    std::size_t size() const { return looks_.load(std::memory_order_relaxed); }

  private:
    struct Entry {
        Ticket ticket = 0;
        Generation generation = 0;  // 0: not confirmed
        std::uint64_t feed = 0;
    };
    struct Client {
        std::string name;
        Stream* stream = nullptr;
        std::array<std::map<SessionId, Entry>, 2> entries;  // by kind
    };
    Entry* find(Kind kind, ConnectionId connection, const SessionId& session);
    void erase(Kind kind, ConnectionId connection, const SessionId& session);
    void unlink(Kind kind, ConnectionId connection, const SessionId& session);

    std::unordered_map<ConnectionId, Client> clients_;
    /// By kind: who has an entry for a session, the earliest first.
    std::array<std::map<SessionId, std::vector<ConnectionId>>, 2> by_session_;
    Ticket last_ticket_ = 0;
    std::atomic<std::size_t> looks_ = 0;
};

}  // namespace knell::rpc
