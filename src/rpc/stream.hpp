#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "wire/framing.hpp"

namespace knell::rpc {

/// Answers that a client has yet to take: past this no more calls are read from it, and what it
/// asked for is not looked up, until it has taken more.  So it is never owed more than it may
/// leave unread.
inline constexpr std::size_t owed_bytes_max = 1U << 20U;
static_assert(owed_bytes_max + limits::answer_bytes_max <= limits::unsent_bytes_max);

/// Something that a connection carries besides answers.
class Feed {
  public:
    virtual ~Feed() = default;
    /// Some of what was sent has left: there may be room for more.
    virtual void go_on() = 0;
};

/// The feeds of one connection, which takes them along when it goes.
class FeedSet {
  public:
    explicit FeedSet(std::size_t feeds_max) : max_(feeds_max) {}

    /// `counts`: against the most that it may have.
    void add(std::unique_ptr<Feed> feed, bool counts = true) {
        feeds_.push_back({std::move(feed), counts});
    }
    void remove(const Feed& feed) {
        std::erase_if(feeds_, [&feed](const Entry& one) { return one.feed.get() == &feed; });
    }
    void clear() { feeds_.clear(); }
    void go_on() {
        for (const auto& one : feeds_) one.feed->go_on();
    }

    bool is_full() const {
        return static_cast<std::size_t>(std::ranges::count(feeds_, true, &Entry::counts)) >= max_;
    }
    bool is_empty() const { return feeds_.empty(); }
    std::size_t max() const { return max_; }

  private:
    struct Entry {
        std::unique_ptr<Feed> feed;
        bool counts = true;
    };
    const std::size_t max_;
    std::vector<Entry> feeds_;
};

/// A client's connection, to those who have more to tell it than answers.  None of this calls back
/// or ends a feed before it returns.  One thread, the dispatcher's.
class Stream {
  public:
    virtual ~Stream() = default;

    /// How to write what is sent here.
    virtual const wire::Framing& framing() const = 0;
    /// Whole messages, behind all that was sent and answered before.
    virtual void send(std::string_view messages) = 0;
    /// Bytes that the client has yet to take.
    virtual std::size_t unsent() const = 0;
    /// Says why, then closes the connection.
    virtual void finish(const Error& why) = 0;

    virtual FeedSet& feeds() = 0;
};

}  // namespace knell::rpc
