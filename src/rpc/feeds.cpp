#include "rpc/feeds.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/framing.hpp"

namespace knell::rpc {

static_assert(limits::feed_live_bytes_max + limits::feed_unsent_bytes_max <
              limits::unsent_bytes_max);

namespace {

/// The next page is read for whoever has left no more than this of those before.  Pages are read
/// one after the other for all followers: one for a follower that does not read keeps others
/// waiting, and there may be hundreds of these.
constexpr std::size_t page_rest_bytes_max = 32U << 10U;

}  // namespace

Result<FeedPage> read_feed_page(Reader& reader, EventQuery query, const wire::Framing& framing,
                                std::string_view node_id) {
    query.limit = limits::feed_page_events_max;
    query.bytes_max = limits::feed_page_bytes_max;
    const auto page = reader.events(query);
    if (!page) return std::unexpected(page.error());
    FeedPage rendered{.messages = {}, .next = page->next, .newest = page->newest};
    if (page->gap) framing.append_gap(rendered.messages, page->gap->from, page->gap->to);
    for (const auto& event : page->events) {
        // Events may be large; the rest is for the next page.
        if (rendered.messages.size() >= limits::feed_page_bytes_max) {
            rendered.next = event.seq - 1;
            break;
        }
        framing.append_event(rendered.messages, event, node_id);
    }
    return rendered;
}

class Feeds::Subscriber final : public Feed {
  public:
    enum class State : std::uint8_t {
        live,     // has everything that was published and that it wants
        reading,  // a page is on its way
        waiting,  // behind, until its connection has room
    };

    Subscriber(Feeds& feeds, Subscription&& wanted, Stream& its_stream)
        : query(std::move(wanted.query)),
          stream(its_stream),
          number(++feeds.last_number_),
          feeds_(feeds) {
        if (wanted.from_now) query.after = feeds.newest_;
        feeds_.subscribers_.emplace(number, this);
        follows_one() ? feeds_.by_session_[query.session_id].emplace(number, this)
                      : feeds_.of_all_.emplace(number, this);
        ++feeds_.listeners_;
    }
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;
    ~Subscriber() override {
        respond.release();  // its connection is gone
        feeds_.subscribers_.erase(number);
        feeds_.of_all_.erase(number);
        const auto same = feeds_.by_session_.find(query.session_id);
        if (same != feeds_.by_session_.end()) {
            same->second.erase(number);
            if (same->second.empty()) feeds_.by_session_.erase(same);
        }
        --feeds_.listeners_;
    }

    void go_on() override {
        if (state == State::waiting) feeds_.catch_up(*this);
    }

    bool follows_one() const { return !query.session_id.empty(); }
    bool is_over() const { return until && query.after >= *until; }
    bool has_room() const { return stream.unsent() < limits::feed_unsent_bytes_max; }
    /// It has taken what it was sent, but for a rest.
    bool has_taken() const { return stream.unsent() < page_rest_bytes_max; }
    JsonObject greeting() const { return {{"after", query.after}}; }

    /// `after` is the cursor: all before it was sent or not wanted.  Of one that is live and
    /// follows one session it may be older: since then nothing of that session was published.
    EventQuery query;
    std::optional<Seq> until;  // then it is over
    Stream& stream;
    const std::uint64_t number;
    State state = State::live;
    Respond respond;  // until the first page shows that the cursor is one of this log

  private:
    Feeds& feeds_;
};

/// The messages of a commit, in one framing, each made when the first one wants it.
class Feeds::Rendered {
  public:
    Rendered(std::span<const Event> events, const wire::Framing& framing, std::string_view node_id)
        : events_(events), framing_(&framing), node_id_(node_id), messages_(events.size()) {}

    const wire::Framing* framing() const { return framing_; }

    std::string_view one(std::size_t place) {
        auto& message = messages_[place];
        if (message.empty()) framing_->append_event(message, events_[place], node_id_);
        return message;
    }
    std::string_view all() {
        if (!all_.empty()) return all_;
        for (std::size_t i = 0; i < events_.size(); ++i) all_ += one(i);
        return all_;
    }

    /// What `query` wants of them, past its cursor.
    std::string_view selected(const EventQuery& query) {
        if (query.wants_all() && query.after < events_.front().seq) return all();
        selection_.clear();
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].seq > query.after && query.wants(events_[i])) selection_ += one(i);
        }
        return selection_;
    }

  private:
    std::span<const Event> events_;
    const wire::Framing* framing_;
    std::string_view node_id_;
    std::vector<std::string> messages_;
    std::string all_;
    std::string selection_;
};

/// The events of a commit, rendered once in each framing that somebody wants.
class Feeds::News {
  public:
    News(std::span<const Event> events, std::string_view node_id)
        : events_(events), node_id_(node_id) {}

    std::span<const Event> events() const { return events_; }
    Seq first() const { return events_.front().seq; }
    Seq last() const { return events_.back().seq; }

    /// Until the next is asked for.
    Rendered& in(const wire::Framing& framing) {
        const auto found = std::ranges::find(rendered_, &framing, &Rendered::framing);
        if (found != rendered_.end()) return *found;
        return rendered_.emplace_back(events_, framing, node_id_);
    }

  private:
    const std::span<const Event> events_;
    const std::string_view node_id_;
    std::vector<Rendered> rendered_;
};

namespace {

std::string too_many(std::size_t feeds_max) {
    if (feeds_max == 1) {
        return "this connection has a subscription already; open another connection for a second "
               "one";
    }
    return fmt::format(
        "this connection has {} subscriptions already; open another connection for more",
        feeds_max);
}

}  // namespace

Feeds::Feeds(std::string_view node_id, ReadPage read_page)
    : node_id_(node_id), read_page_(std::move(read_page)) {}
Feeds::~Feeds() = default;

std::uint64_t Feeds::subscribe(Subscription&& wanted, Stream& stream, Respond respond) {
    if (!wanted.is_attachment && stream.feeds().is_full()) {
        respond(fail(ErrorCode::invalid_request, too_many(stream.feeds().max())));
        return 0;
    }
    if (subscribers_.size() >= limits::feeds_max) {
        respond(fail(ErrorCode::limit,
                     fmt::format("{} subscriptions are open, the most this daemon takes; close "
                                 "some, or ask with events.read",
                                 limits::feeds_max)));
        return 0;
    }
    const bool is_live = wanted.from_now || (wanted.is_ours && wanted.query.after >= newest_);
    const bool counts = !wanted.is_attachment;
    auto owned = std::make_unique<Subscriber>(*this, std::move(wanted), stream);
    auto& subscriber = *owned;
    const auto number = subscriber.number;
    stream.feeds().add(std::move(owned), counts);
    if (is_live) {
        respond(subscriber.greeting());
        return number;
    }
    subscriber.respond = std::move(respond);
    read(subscriber);
    return number;
}

void Feeds::unsubscribe(std::uint64_t number) {
    const auto found = subscribers_.find(number);
    if (found != subscribers_.end()) remove(*found->second);
}

void Feeds::finish(std::uint64_t number) {
    const auto found = subscribers_.find(number);
    if (found == subscribers_.end()) return;
    auto& subscriber = *found->second;
    if (subscriber.state == Subscriber::State::live) return remove(subscriber);
    subscriber.until = newest_;
}

void Feeds::remove(Subscriber& subscriber) {
    subscriber.stream.feeds().remove(subscriber);
}

void Feeds::publish(std::span<const Event> events) {
    if (events.empty()) return;
    const auto before = std::exchange(newest_, events.back().seq);
    News news(events, node_id_);
    // No stream goes, and none comes, while it is sent something: the tables stay as they are.
    for (const auto& [number, subscriber] : of_all_) {
        if (subscriber->state == Subscriber::State::live) deliver(*subscriber, news);
    }
    if (by_session_.empty()) return;
    for (std::size_t place = 0; place < events.size(); ++place) {
        const auto found = by_session_.find(events[place].session_id);
        if (found == by_session_.end()) continue;
        for (const auto& [number, subscriber] : found->second) {
            if (subscriber->state != Subscriber::State::live) continue;
            auto& cursor = subscriber->query.after;
            cursor = std::max(cursor, before);
            deliver_one(*subscriber, news, place);
        }
    }
}

void Feeds::publish_up_to(Seq newest) {
    const auto before = std::exchange(newest_, std::max(newest_, newest));
    for (const auto& [number, subscriber] : subscribers_) {
        if (subscriber->state != Subscriber::State::live) continue;
        subscriber->query.after = std::max(subscriber->query.after, before);
        catch_up(*subscriber);
    }
}

void Feeds::deliver(Subscriber& subscriber, News& news) {
    auto& cursor = subscriber.query.after;
    if (cursor >= news.last()) return;  // its last page was ahead of us
    const bool joins = cursor + 1 >= news.first();
    if (!joins || !subscriber.has_room()) return catch_up(subscriber);
    auto& rendered = news.in(subscriber.stream.framing());
    if (rendered.all().size() > limits::feed_live_bytes_max) return catch_up(subscriber);
    if (const auto messages = rendered.selected(subscriber.query); !messages.empty()) {
        subscriber.stream.send(messages);
    }
    cursor = news.last();
}

/// To one that follows the session of that event.
void Feeds::deliver_one(Subscriber& subscriber, News& news, std::size_t place) {
    auto& cursor = subscriber.query.after;
    const auto& event = news.events()[place];
    if (event.seq <= cursor) return;
    const bool joins = cursor + 1 >= news.first();
    if (!joins || !subscriber.has_room()) return catch_up(subscriber);
    if (subscriber.query.wants(event)) {
        const auto message = news.in(subscriber.stream.framing()).one(place);
        if (message.size() > limits::feed_live_bytes_max) return catch_up(subscriber);
        subscriber.stream.send(message);
    }
    cursor = event.seq;
}

void Feeds::catch_up(Subscriber& subscriber) {
    if (subscriber.query.after >= newest_) {
        subscriber.state = Subscriber::State::live;
    } else if (subscriber.has_taken()) {
        read(subscriber);
    } else {
        subscriber.state = Subscriber::State::waiting;
    }
}

void Feeds::read(Subscriber& subscriber) {
    subscriber.state = Subscriber::State::reading;
    read_page_(subscriber.query, subscriber.stream.framing(),
               [this, number = subscriber.number](Result<FeedPage> page) {
                   take_page(number, std::move(page));
               });
}

void Feeds::take_page(std::uint64_t number, Result<FeedPage> page) {
    const auto found = subscribers_.find(number);
    if (found == subscribers_.end()) return;
    auto& subscriber = *found->second;
    auto& stream = subscriber.stream;
    if (page && subscriber.respond && subscriber.query.after > page->newest) {
        page = bad_field("after", fmt::format("is {}, but the last event here is {}: this is not "
                                              "the log that it was read from",
                                              subscriber.query.after, page->newest));
    }
    if (!page && subscriber.respond) {
        auto respond = std::move(subscriber.respond);
        stream.feeds().remove(subscriber);
        return respond(std::unexpected(std::move(page.error())));
    }
    if (!page) return stream.finish(page.error());
    if (subscriber.respond) std::exchange(subscriber.respond, {})(subscriber.greeting());
    if (!page->messages.empty()) stream.send(page->messages);
    subscriber.query.after = page->next;
    if (subscriber.is_over()) return remove(subscriber);
    catch_up(subscriber);
}

}  // namespace knell::rpc
