// Pages are read for all followers one after the other: those who do not read must not have many
// read for them.

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "rpc/feeds.hpp"
#include "testing/event_log.hpp"

namespace knell::rpc {
namespace {

/// A connection with little room in its socket: what it does not fit waits for the client.
class Follower final : public Stream {
  public:
    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view messages) override {
        bytes += messages.size();
        unsent_ += messages.size();
    }
    std::size_t unsent() const override { return unsent_; }
    void finish(const Error&) override { FAIL() << "nothing goes wrong here"; }
    FeedSet& feeds() override { return feeds_; }

    void read_all() {
        unsent_ = 0;
        feeds_.go_on();
    }

    std::size_t bytes = 0;

  private:
    std::size_t unsent_ = 0;
    FeedSet feeds_{1};
};

TEST(FeedsFairness, WhoDoesNotReadHasOnePageReadForIt) {
    testing::EventLog log;
    std::size_t log_bytes = 0;
    for (int i = 0; i < 1'000; ++i) {
        Event event;
        event.type = EventType::session_start;
        event.session_id = SessionId("s");
        event.detail = std::string(5'000, 'd');
        log.write(std::move(event));
    }
    for (const auto& event : log.events()) {
        std::string line;
        wire::json_lines.append_event(line, event, "n0de");
        log_bytes += line.size();
    }
    std::deque<std::move_only_function<void()>> pages;  // as they are asked for
    std::size_t read = 0;
    Feeds feeds("n0de", [&](EventQuery query, const wire::Framing& framing, Feeds::Done done) {
        pages.push_back([&, query = std::move(query), done = std::move(done)]() mutable {
            ++read;
            done(read_feed_page(log.reader(), std::move(query), framing, "n0de"));
        });
    });
    feeds.set_newest(log.events().back().seq);
    const auto follow = [&](Follower& follower) {
        feeds.subscribe({.query = {.after = 0}}, follower, [](const Result<Json>&) {});
    };
    const auto read_to_the_end = [&](Follower& reader) {
        follow(reader);
        while (!pages.empty()) {
            auto page = std::move(pages.front());
            pages.pop_front();
            page();
            reader.read_all();
        }
    };
    Follower alone;
    read_to_the_end(alone);
    const auto pages_alone = std::exchange(read, 0);

    std::vector<std::unique_ptr<Follower>> deaf;
    for (int i = 0; i < 120; ++i) follow(*deaf.emplace_back(std::make_unique<Follower>()));
    Follower honest;
    read_to_the_end(honest);

    EXPECT_EQ(alone.bytes, log_bytes);
    EXPECT_EQ(honest.bytes, log_bytes);
    EXPECT_GT(pages_alone, 5U);
    EXPECT_EQ(read, pages_alone + deaf.size());
    for (auto& one : deaf) EXPECT_LT(one->bytes, limits::feed_page_bytes_max + 10'000);

    deaf.front()->read_all();
    EXPECT_EQ(pages.size(), 1U) << "it goes on as soon as it reads";
}

}  // namespace
}  // namespace knell::rpc
