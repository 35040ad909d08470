#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "rpc/backend.hpp"
#include "rpc/stream.hpp"
#include "store/store.hpp"

namespace knell::rpc {

/// What somebody wants to follow.
struct Subscription {
    EventQuery query;            // `limit` is not used
    bool from_now = false;       // only what comes; `query.after` is not used
    bool is_attachment = false;  // comes with session.attach, and does not count as a subscription
    bool is_ours = false;        // `query.after` is where this daemon's log stands
};

/// A piece of the log as a subscriber is sent it.
struct FeedPage {
    std::string messages;
    Seq next = 0;
    Seq newest = 0;
};

/// Reads and renders the next piece; on a thread that may take its time.
Result<FeedPage> read_feed_page(Reader& reader, EventQuery query, const wire::Framing& framing,
                                std::string_view node_id);

/// Live feeds: each subscriber gets the log after its cursor, filtered, in order, each event once,
/// framed as its stream wants it.
///
/// A subscriber that has caught up is sent what is committed as it is published.  One that is
/// behind, because it began in the past or reads slowly, is fed page by page from the store, the
/// next one when it has taken the one before: what waits for it is in the store and not in memory,
/// and nobody waits for the pages of those who do not read.
///
/// A commit costs those who may want it: whoever follows one session is found by that session.
///
/// One thread, the dispatcher's.  Outlives the streams.
class Feeds {
  public:
    using Done = std::move_only_function<void(Result<FeedPage>)>;
    /// Has `read_feed_page` done elsewhere; `done` is called on this thread, now or later.
    using ReadPage = std::function<void(EventQuery query, const wire::Framing& framing, Done done)>;

    Feeds(std::string_view node_id, ReadPage read_page);
    ~Feeds();

    /// Where the log stands before the first `publish`.
    void set_newest(Seq newest) { newest_ = newest; }

    /// Answers `{"after": cursor}` and feeds the stream from then on.  Gives the number of the
    /// feed, 0 when it was refused.
    std::uint64_t subscribe(Subscription&& wanted, Stream& stream, Respond respond);
    /// One that may be gone by then.
    void unsubscribe(std::uint64_t number);
    /// The same once it was sent all that is published by now.
    void finish(std::uint64_t number);

    /// Committed events, in order, all of them.
    void publish(std::span<const Event> events);
    /// The same where nobody listened as they were committed: whoever has come since is fed from
    /// the store.
    void publish_up_to(Seq newest);

    /// Any thread.
    bool has_listeners() const { return listeners_ > 0; }

    std::size_t size() const { return subscribers_.size(); }

  private:
    class Subscriber;
    class Rendered;
    class News;

    void catch_up(Subscriber& subscriber);
    void read(Subscriber& subscriber);
    void take_page(std::uint64_t number, Result<FeedPage> page);
    void deliver(Subscriber& subscriber, News& news);
    void deliver_one(Subscriber& subscriber, News& news, std::size_t place);
    void remove(Subscriber& subscriber);

    const std::string node_id_;
    const ReadPage read_page_;
    Seq newest_ = 0;  // that was published
    /// Owned by their streams; entered and taken out by themselves.  By number, because a page may
    /// come back to one that is gone.
    std::map<std::uint64_t, Subscriber*> subscribers_;
    /// The same, once more: those that follow one session by that, so that what happens to another
    /// costs nothing, and the rest.
    std::unordered_map<SessionId, std::map<std::uint64_t, Subscriber*>> by_session_;
    std::map<std::uint64_t, Subscriber*> of_all_;
    std::uint64_t last_number_ = 0;
    std::atomic<std::size_t> listeners_ = 0;
};

}  // namespace knell::rpc
