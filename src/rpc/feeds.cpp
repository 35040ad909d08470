#include "rpc/feeds.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/envelope.hpp"
#include "wire/event_text.hpp"

namespace knell::rpc {

static_assert(limits::feed_live_bytes_max + limits::feed_unsent_bytes_max <
              limits::unsent_bytes_max);

Result<FeedPage> read_feed_page(Reader& reader, EventQuery query, std::string_view node_id) {
    query.limit = limits::feed_page_events_max;
    query.bytes_max = limits::feed_page_bytes_max;
    const auto page = reader.events(query);
    if (!page) return std::unexpected(page.error());
    FeedPage rendered{.lines = {}, .next = page->next, .newest = page->newest};
    if (page->gap) wire::append_gap_line(rendered.lines, page->gap->from, page->gap->to);
    for (const auto& event : page->events) {
        // Events may be large; the rest is for the next page.
        if (rendered.lines.size() >= limits::feed_page_bytes_max) {
            rendered.next = event.seq - 1;
            break;
        }
        wire::append_event_line(rendered.lines, event, node_id);
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

/// The lines of a commit, made once and only if somebody wants them.
class Feeds::Rendered {
  public:
    Rendered(std::span<const Event> events, std::string_view node_id)
        : events_(events), node_id_(node_id) {}

    Seq first() const { return events_.front().seq; }
    Seq last() const { return events_.back().seq; }

    std::string_view all() {
        if (!ends_.empty()) return text_;
        ends_.reserve(events_.size());
        for (const auto& event : events_) {
            wire::append_event_line(text_, event, node_id_);
            ends_.push_back(text_.size());
        }
        return text_;
    }

    /// What `query` wants of them, past its cursor.
    std::string_view selected(const EventQuery& query) {
        const auto text = all();
        if (query.wants_all() && query.after < first()) return text;
        selection_.clear();
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].seq <= query.after || !query.wants(events_[i])) continue;
            const auto begin = i == 0 ? 0 : ends_[i - 1];
            selection_ += text.substr(begin, ends_[i] - begin);
        }
        return selection_;
    }

  private:
    const std::span<const Event> events_;
    const std::string_view node_id_;
    std::string text_;
    std::vector<std::size_t> ends_;  // of each event's line in `text_`
    std::string selection_;
};

Feeds::Feeds(std::string_view node_id, ReadPage read_page)
    : node_id_(node_id), read_page_(std::move(read_page)) {}
Feeds::~Feeds() = default;

void Feeds::subscribe(Subscription&& wanted, Stream& stream, Respond respond) {
    if (stream.has_feed()) {
        return respond(fail(ErrorCode::invalid_request,
                            "this connection has a subscription already; open another connection "
                            "for a second one"));
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
    stream.attach(std::move(owned));
    if (from_now) return respond(subscriber.greeting());
    subscriber.respond = std::move(respond);
    read(subscriber);
}

void Feeds::publish(std::span<const Event> events) {
    if (events.empty()) return;
    newest_ = events.back().seq;
    Rendered news(events, node_id_);
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

void Feeds::deliver(Subscriber& subscriber, Rendered& news) {
    auto& cursor = subscriber.query.after;
    if (cursor >= news.last()) return;  // its last page was ahead of us
    const bool joins = cursor + 1 >= news.first();
    if (!joins || !subscriber.has_room() || news.all().size() > limits::feed_live_bytes_max) {
        return catch_up(subscriber);
    }
    if (const auto lines = news.selected(subscriber.query); !lines.empty()) {
        subscriber.stream.send(lines);
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
    read_page_(subscriber.query, [this, number = subscriber.number](Result<FeedPage> page) {
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
        stream.detach();
        return respond(std::unexpected(std::move(page.error())));
    }
    if (!page) return stream.finish(wire::error_line(page.error()));
    if (subscriber.respond) std::exchange(subscriber.respond, {})(subscriber.greeting());
    if (!page->lines.empty()) stream.send(page->lines);
    subscriber.query.after = page->next;
    catch_up(subscriber);
}

}  // namespace knell::rpc
