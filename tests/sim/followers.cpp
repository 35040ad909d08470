#include "followers.hpp"

#include <algorithm>
#include <utility>

#include "wire/json.hpp"

namespace knell::sim {

namespace {

FeedLine line_of(std::string_view text) {
    const auto json = wire::parse_json(text);
    const auto& object = json->as_object();
    const auto& params = *wire::object_at(object, "params");
    if (wire::text_at(object, "method") == "gap") {
        return {.gap = Gap{wire::int_at(params, "from"), wire::int_at(params, "to")}, .event = {}};
    }
    return {.gap = {}, .event = wire::to_text(params)};
}

}  // namespace

class Followers::Connection final : public rpc::Stream {
  public:
    Connection(Followers& followers, std::size_t who) : followers_(followers), who_(who) {}

    bool is_stuck = false;
    bool is_over = false;

    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view lines) override { followers_.take(who_, lines); }
    std::size_t unsent() const override { return is_stuck ? SIZE_MAX / 2 : 0; }
    void finish(const Error&) override { is_over = true; }
    rpc::FeedSet& feeds() override { return feeds_; }

  private:
    Followers& followers_;
    const std::size_t who_;
    rpc::FeedSet feeds_{1};
};

Followers::Followers(Host& host, Ledger& ledger, Node& node, OnLine on_line)
    : host_(host), ledger_(ledger), node_(node), on_line_(std::move(on_line)) {
    ledger_.followings.resize(count);
    ledger_.followings[1].query.types = {EventType::session_end};
    ledger_.followings[2].query.types = {EventType::session_start, EventType::agent_start};
}

Followers::~Followers() = default;

void Followers::start() {
    feeds_ = std::make_unique<rpc::Feeds>(
        node_.store().node_id(),
        [this](EventQuery query, const wire::Framing& framing, rpc::Feeds::Done done) {
            auto page = rpc::read_feed_page(node_.reader(), std::move(query), framing,
                                            node_.store().node_id());
            pages_.push_back({host_.elapsed() + pages_take_, std::move(page), std::move(done)});
        });
    feeds_->set_newest(node_.write_step().state().heads().seq);
}

void Followers::crash() {
    for (auto& connection : connections_) connection.reset();
    pages_.clear();
    news_.clear();
    feeds_.reset();
}

void Followers::publish(const std::vector<Event>& events) {
    if (!feeds_ || events.empty()) return;
    const auto due = host_.elapsed() + news_take_;
    news_.push_back(
        {due, feeds_->has_listeners() ? events : std::vector<Event>{}, events.back().seq});
}

void Followers::step() {
    if (!feeds_) return;
    // In the order of the commits, whatever comes late.
    while (!news_.empty() && news_.front().due <= host_.elapsed()) {
        const auto news = std::move(news_.front());
        news_.erase(news_.begin());
        if (news.events.empty()) {
            feeds_->publish_up_to(news.newest);
        } else {
            feeds_->publish(news.events);
        }
    }
    while (!pages_.empty() && pages_.front().due <= host_.elapsed()) {
        auto page = std::move(pages_.front());
        pages_.erase(pages_.begin());
        page.done(std::move(page.page));
    }
    for (auto& connection : connections_) {
        if (connection && connection->is_over) connection.reset();
        if (connection && !connection->is_stuck) connection->feeds().go_on();
    }
}

void Followers::subscribe(std::size_t who, rpc::Subscription&& wanted) {
    if (!feeds_) return;
    connections_.at(who) = std::make_unique<Connection>(*this, who);
    feeds_->subscribe(std::move(wanted), *connections_.at(who), [this, who](Result<Json> answer) {
        if (!answer) {
            connections_.at(who)->is_over = true;
            return;
        }
        auto& following = ledger_.followings.at(who);
        following.has_begun = true;
        following.cursor = wire::int_at(answer->as_object(), "after");
    });
}

void Followers::follow(std::size_t who, bool from_now, Seq after) {
    hang_up(who);
    auto& following = ledger_.followings.at(who);
    following.has_begun = false;
    following.query.after = after;
    subscribe(who, {.query = following.query, .from_now = from_now});
}

void Followers::reconnect(std::size_t who) {
    auto& following = ledger_.followings.at(who);
    if (!following.has_begun || is_connected(who)) return;
    following.query.after = following.cursor;
    subscribe(who, {.query = following.query, .from_now = false});
}

void Followers::hang_up(std::size_t who) {
    connections_.at(who).reset();
}

void Followers::set_stuck(std::size_t who, bool stuck) {
    if (connections_.at(who)) connections_.at(who)->is_stuck = stuck;
}

bool Followers::is_connected(std::size_t who) const {
    return connections_.at(who) && !connections_.at(who)->is_over;
}

void Followers::slow_down(Host::Duration pages, Host::Duration news) {
    pages_take_ = pages;
    news_take_ = news;
}

void Followers::take(std::size_t who, std::string_view lines) {
    auto& following = ledger_.followings.at(who);
    while (!lines.empty()) {
        const auto end = lines.find('\n');
        const auto line = line_of(lines.substr(0, end));
        lines.remove_prefix(end + 1);
        on_line_(who, following, line);
        following.cursor = line.gap ? line.gap->to : line.seq();
    }
}

}  // namespace knell::sim
