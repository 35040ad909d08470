#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/event.hpp"
#include "core/session.hpp"
#include "store/batch.hpp"

namespace knell {

/// Filters come before the limit.  Newest first, by order of creation.
struct SessionQuery {
    std::string source;
    std::string key;
    std::optional<Status> status;
    std::optional<bool> ended;
    bool all = false;  // also what is folded away
    std::size_t limit = 0;
    std::optional<Ordinal> before;  // cursor: only older ones
};

struct SessionPage {
    std::vector<Session> sessions;
    std::optional<Ordinal> next;  // the cursor of the next page, when there is one
};

struct EventQuery {
    Seq after = 0;
    std::size_t limit = 0;
    std::vector<EventType> types;  // empty: all
    SessionId session_id;          // empty: all
};

struct EventPage {
    std::vector<Event> events;
    Seq next = 0;  // ask again with after = next
};

using EndCounts = std::map<Reason, std::int64_t>;

struct StoreFacts {
    std::string kind;
    std::string path;
    std::string library;
    int schema = 0;
    std::int64_t bytes = 0;
};

/// Reads what is committed.  One thread; several readers may exist beside the one writer.
class Reader {
  public:
    virtual ~Reader() = default;
    virtual Result<SessionPage> list(const SessionQuery& query) = 0;
    virtual Result<std::optional<Session>> find(const SessionId& id) = 0;
    /// The newest `limit` messages, oldest first.
    virtual Result<std::vector<Message>> messages(Ordinal session, std::size_t limit) = 0;
    virtual Result<EventPage> events(const EventQuery& query) = 0;
    /// How many ended for which reason since the full hour before `since`.
    virtual Result<EndCounts> ends_since(WallTime since) = 0;
    /// Rows that ended without a reason.  Must be none.
    virtual Result<std::int64_t> leaked() = 0;
};

/// Where the numbering goes on after a restart.
struct Heads {
    Ordinal ordinal = 0;  // the highest given out
    Seq seq = 0;
    std::optional<WallTime> alive_at;  // when a daemon last said that it was watching
};

/// The only writer of the record.  One thread.  The store is the truth: a batch that failed left
/// no trace, a batch that succeeded survives a power cut.
class Store {
  public:
    virtual ~Store() = default;
    virtual Result<void> commit(const Batch& batch) = 0;
    virtual Result<std::optional<Session>> find(const SessionId& id) = 0;
    virtual Result<void> for_each_open(const std::function<void(const Session&)>& visit) = 0;
    virtual Result<Heads> heads() = 0;
    /// Between batches, when nobody waits: whatever keeps the store healthy.
    virtual Result<void> maintain() = 0;
    virtual Result<std::unique_ptr<Reader>> open_reader() = 0;
    /// Safe on any thread.
    virtual StoreFacts facts() const = 0;
    /// Random, made with the store: names this node in event ids.
    virtual const std::string& node_id() const = 0;
};

}  // namespace knell
