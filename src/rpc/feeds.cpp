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
        live,     // has everything that was published
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
        ++feeds_.listeners_;
    }
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;
    ~Subscriber() override {
        respond.release();  // its connection is gone
        feeds_.subscribers_.erase(number);
        --feeds_.listeners_;
    }

    void go_on() override {
        if (state == State::waiting) feeds_.catch_up(*this);
    }

    bool has_room() const { return stream.unsent() < limits::feed_unsent_bytes_max; }
    JsonObject greeting() const { return {{"after", query.after}}; }

    EventQuery query;  // `after` is the cursor: all before it was sent or not wanted
    Stream& stream;
    const std::uint64_t number;
    State state = State::live;
    Respond respond;  // until the first page shows that the cursor is one of this log

  private:
    Feeds& feeds_;
};

/// The messages of a commit, in one framing.
class Feeds::Rendered {
  public:
    Rendered(std::span<const Event> events, const wire::Framing& framing, std::string_view node_id)
        : events_(events), framing_(&framing) {
        ends_.reserve(events_.size());
        for (const auto& event : events_) {
            framing.append_event(text_, event, node_id);
            ends_.push_back(text_.size());
        }
    }

    const wire::Framing* framing() const { return framing_; }
    std::string_view all() const { return text_; }

    /// What `query` wants of them, past its cursor.
    std::string_view selected(const EventQuery& query) {
        const auto text = all();
        if (query.wants_all() && query.after < events_.front().seq) return text;
        selection_.clear();
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].seq <= query.after || !query.wants(events_[i])) continue;
            const auto begin = i == 0 ? 0 : ends_[i - 1];
            selection_ += text.substr(begin, ends_[i] - begin);
        }
        return selection_;
    }

  private:
    std::span<const Event> events_;
    const wire::Framing* framing_;
    std::string text_;
    std::vector<std::size_t> ends_;  // of each event's message in `text_`
    std::string selection_;
};

/// The events of a commit, rendered once in each framing that somebody wants.
class Feeds::News {
  public:
    News(std::span<const Event> events, std::string_view node_id)
        : events_(events), node_id_(node_id) {}

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

void Feeds::subscribe(Subscription&& wanted, Stream& stream, Respond respond) {
    if (stream.feeds().is_full()) {
        return respond(fail(ErrorCode::invalid_request, too_many(stream.feeds().max())));
    }
    if (subscribers_.size() >= limits::feeds_max) {
        return respond(fail(ErrorCode::limit,
                            fmt::format("{} subscriptions are open, the most this daemon takes; "
                                        "close some, or ask with events.read",
                                        limits::feeds_max)));
    }
    const bool from_now = wanted.from_now;
    auto owned = std::make_unique<Subscriber>(*this, std::move(wanted), stream);
    auto& subscriber = *owned;
    stream.feeds().add(std::move(owned));
    if (from_now) return respond(subscriber.greeting());
    subscriber.respond = std::move(respond);
    read(subscriber);
}

void Feeds::publish(std::span<const Event> events) {
    if (events.empty()) return;
    newest_ = events.back().seq;
    News news(events, node_id_);
    // No stream goes, and none comes, while it is sent something: the table stays as it is.
    for (const auto& [number, subscriber] : subscribers_) {
        if (subscriber->state == Subscriber::State::live) deliver(*subscriber, news);
    }
}

void Feeds::publish_up_to(Seq newest) {
    newest_ = std::max(newest_, newest);
    for (const auto& [number, subscriber] : subscribers_) {
        if (subscriber->state == Subscriber::State::live) catch_up(*subscriber);
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

void Feeds::catch_up(Subscriber& subscriber) {
    if (subscriber.query.after >= newest_) {
        subscriber.state = Subscriber::State::live;
    } else if (subscriber.has_room()) {
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
    catch_up(subscriber);
}

}  // namespace knell::rpc
