#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/event.hpp"
#include "core/retention.hpp"
#include "core/session.hpp"
#include "store/batch.hpp"

namespace knell {

/// A page ends at its limit, or with the item that reaches `bytes_max` (store/page_bytes.hpp): it
/// holds one item at least.

/// Filters come before the limit.  Newest first, by order of creation.
struct SessionQuery {
    std::string source;
    std::string key;
    std::optional<Status> status;
    std::optional<bool> ended;
    bool all = false;  // also what is folded away
    std::size_t limit = 0;
    std::optional<Ordinal> before;  // cursor: only older ones
    std::size_t bytes_max = SIZE_MAX;
    /// Without what is hosted and nobody has looked at for a while by then, except `current`.
    std::optional<WallTime> live_at{};
    SessionId current{};
};

struct SessionPage {
    std::vector<Session> sessions;
    std::optional<Ordinal> next;  // the cursor of the next page, when there is one
};

/// The place of a session among those that ended.
struct EndPlace {
    WallTime ended_at;
    Ordinal ordinal = 0;  // where two ended in the same millisecond

    auto operator<=>(const EndPlace&) const = default;
};

/// Sessions that ended, the last to end first.  Folded ones only where a source or a key is named.
struct EndedQuery {
    std::string source{};
    std::string key{};
    std::string cwd{};                // that directory, or one below it
    std::optional<WallTime> since{};  // ended then or later
    bool all = false;                 // also what is folded away
    std::size_t limit = 0;
    std::optional<EndPlace> before{};  // cursor
    std::size_t bytes_max = SIZE_MAX;

    bool wants_folded() const { return all || !source.empty() || !key.empty(); }
    bool wants(const Session& session) const {
        const bool is_in = cwd.empty() || session.cwd == cwd || cwd == "/" ||
                           (session.cwd.starts_with(cwd) && session.cwd[cwd.size()] == '/');
        return is_in && (source.empty() || session.source == source) &&
               (key.empty() || session.key == key);
    }
};

struct EndedPage {
    std::vector<Session> sessions;
    /// The cursor of the next page, when there may be one: also behind the last of those that were
    /// looked at in vain.
    std::optional<EndPlace> next;
};

/// Looked at for one page: a filter that fits few must not hold up the reader's thread.
inline constexpr std::size_t ended_scan_max = 5000;

/// The sessions whose ids stand beside one in the order of ids; empty: there is none.
struct IdNeighbours {
    SessionId before;
    SessionId after;
};

/// Background processes, the newest on record first.
struct ProcessQuery {
    SessionId session_id{};  // empty: of all
    std::string key{};       // of every session of that key; empty: of all
    bool running = true;     // those that run
    /// And those whose exit is on record since then; none: none of them.
    std::optional<WallTime> exited_since{};
    std::size_t limit = 0;
    std::optional<std::int64_t> before{};  // cursor: only older ones
    std::size_t bytes_max = SIZE_MAX;
};

/// A background process, and what became of the session it is of.
struct ProcessOnRecord {
    BackgroundProcess process;
    enum class Session : std::uint8_t { open, ended, none };
    Session session = Session::none;

    bool operator==(const ProcessOnRecord&) const = default;
};

struct ProcessPage {
    std::vector<ProcessOnRecord> processes;
    std::optional<std::int64_t> next;  // the cursor of the next page, when there is one
};

/// The newest messages of a session.
struct MessageQuery {
    Ordinal session = 0;
    std::size_t limit = 0;
    std::optional<std::int64_t> before;  // cursor: only older ones
    std::size_t bytes_max = SIZE_MAX;
};

struct MessagePage {
    std::vector<Message> messages;     // oldest first
    std::optional<std::int64_t> next;  // the cursor of those before them, when there are any
};

struct EventQuery {
    Seq after = 0;
    std::size_t limit = 0;
    std::vector<EventType> types;  // empty: all
    SessionId session_id;          // empty: all
    std::size_t bytes_max = SIZE_MAX;

    bool wants_all() const { return types.empty() && session_id.empty(); }
    bool wants(const Event& event) const {
        return (types.empty() || std::ranges::find(types, event.type) != types.end()) &&
               (session_id.empty() || session_id == event.session_id);
    }
};

/// Events that are no longer kept, both ends included.
struct Gap {
    Seq from = 0;
    Seq to = 0;

    bool operator==(const Gap&) const = default;
};

struct EventPage {
    std::vector<Event> events;
    /// Ask again with after = next.  The log was looked at up to there, whether anything matched or
    /// not: who filters gets on too.
    Seq next = 0;
    Seq newest = 0;          // the last one in the log when it was looked at
    std::optional<Gap> gap;  // between `after` and the first one that is kept
};

/// An ended session, and when its end was told.
struct EndedLately {
    Session session;
    WallTime told_at;
};

using EndCounts = std::map<std::pair<Reason, Proof>, std::int64_t>;

struct StoreFacts {
    std::string kind;
    std::string path;
    std::string library;
    int schema = 0;
    std::int64_t bytes = 0;
    std::string problem;  // why nothing can be written any more; "" when all is well
};

/// Reads what is committed.  One thread; several readers may exist beside the one writer.
class Reader {
  public:
    virtual ~Reader() = default;
    virtual Result<SessionPage> list(const SessionQuery& query) = 0;
    /// Looks at ended_scan_max sessions at most.
    virtual Result<EndedPage> latest_ended(const EndedQuery& query) = 0;
    virtual Result<std::optional<Session>> find(const SessionId& id) = 0;
    /// Those whose ids begin with that, in the order of ids: one whose whole id it is comes first.
    virtual Result<std::vector<Session>> find_beginning(const SessionId& prefix,
                                                        std::size_t limit) = 0;
    /// Whether or not there is a session of that id.
    virtual Result<IdNeighbours> neighbours(const SessionId& id) = 0;
    /// The newest session that came out of that one in that way, open or ended.
    virtual Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                        Relation relation) = 0;
    virtual Result<MessagePage> messages(const MessageQuery& query) = 0;
    virtual Result<ProcessPage> processes(const ProcessQuery& query) = 0;
    virtual Result<std::optional<ProcessOnRecord>> process(const ProcessId& id) = 0;
    /// Oldest first.  Looks at limits::events_scan_max events at most: a rare type must not hold
    /// up the reader's thread.
    virtual Result<EventPage> events(const EventQuery& query) = 0;
    /// Sessions whose end was told at `since` or later, the last told first, `limit` at most;
    /// without those that were opened again.  Looks at limits::space_events_scan_max events at
    /// most.
    virtual Result<std::vector<EndedLately>> ended_lately(WallTime since, std::size_t limit) = 0;
    /// Another number once something was committed.
    virtual Result<std::int64_t> data_version() = 0;
    /// What `read` reads here, but for events, is of one moment.
    virtual Result<void> at_one_moment(const std::function<Result<void>()>& read) = 0;
    /// How many ended for which reason since the full hour before `since`.
    virtual Result<EndCounts> ends_since(WallTime since) = 0;
    /// Rows that ended without a reason.  Must be none.
    virtual Result<std::int64_t> leaked() = 0;
    virtual Result<std::vector<Subscription>> subscriptions() = 0;
    /// By subscriber and number.
    virtual Result<std::vector<PendingDelivery>> letters(const PendingQuery& query) = 0;
};

/// When the event `seq` was the newest, `age` had passed as this node saw it.
struct LogMark {
    Seq seq = 0;
    std::chrono::milliseconds age{0};

    bool operator==(const LogMark&) const = default;
};

/// How much time has passed for the log, and where on which boot's clock that was counted.
struct LogAge {
    std::chrono::milliseconds age{0};
    std::string boot_id;
    SteadyTime boot;

    bool operator==(const LogAge&) const = default;
};

/// Where the numbering goes on after a restart.
struct Heads {
    Ordinal ordinal = 0;              // the highest given out
    std::int64_t process_number = 0;  // of background processes, the same
    Seq seq = 0;
    Seq first_seq = 0;  // the oldest that is still kept; 0: there is none
    std::optional<LastWord> last_word;
    SteadyTime listened;            // so much time have daemons listened
    std::vector<SteadyTime> lives;  // and at these they began, rising
    std::optional<LogAge> log_age;
    std::vector<LogMark> log_marks;  // rising

    bool operator==(const Heads&) const = default;
};

/// The only writer of the record.  One thread.  The store is the truth: a batch that failed left
/// no trace, a batch that succeeded survives a power cut.
class Store {
  public:
    virtual ~Store() = default;
    virtual Result<void> commit(const Batch& batch) = 0;
    virtual Result<std::optional<Session>> find(const SessionId& id) = 0;
    /// The newest session of that key, open or ended, but for those whose key was taken.
    virtual Result<std::optional<Session>> newest_of_key(const std::string& key) = 0;
    /// The newest session that came out of that one in that way, open or ended.
    virtual Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                        Relation relation) = 0;
    virtual Result<void> for_each_open(const std::function<void(const Session&)>& visit) = 0;
    /// Ended sessions that have a leftover whose fate is not recorded yet.
    virtual Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) = 0;
    /// Background processes whose exit is not on record.
    virtual Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) = 0;
    virtual Result<Heads> heads() = 0;
    /// Lets go of the events up to `last`, at most `rows_max` of them; the newest stays, because
    /// the numbering goes on from it.  Gives the number of the oldest that is left.
    virtual Result<Seq> trim_events(Seq last, std::size_t rows_max) = 0;
    /// Keeps how much time has passed for the log, with a mark where there is a new one; marks up
    /// to `forget_until` go.
    virtual Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                                      Seq forget_until) = 0;
    /// Between batches, when nobody waits: whatever keeps the store healthy.
    virtual Result<void> maintain() = 0;
    virtual Result<std::unique_ptr<Reader>> open_reader() = 0;
    /// Safe on any thread.
    virtual StoreFacts facts() const = 0;
    /// Random, made with the store: names this node in event ids.
    virtual const std::string& node_id() const = 0;
};

}  // namespace knell
