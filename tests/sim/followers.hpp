#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger.hpp"
#include "node.hpp"
#include "rpc/feeds.hpp"

namespace knell::sim {

/// The real feeds, with followers that the simulation plays: they come and go, read slowly, and go
/// on after a lost connection where they were.
class Followers {
  public:
    static constexpr std::size_t count = 3;
    /// Is told of each line before the ledger takes note of it.
    using OnLine = std::function<void(std::size_t who, const Following&, const FeedLine&)>;
    Followers(Host& host, Ledger& ledger, Node& node, OnLine on_line);
    ~Followers();

    /// With the daemon.
    void start();
    void crash();
    /// Events that are durable now, on their way to the thread that feeds.
    void publish(const std::vector<Event>& events);
    /// What has arrived by now.
    void step();

    /// Begins anew: with what comes, or after some event.
    void follow(std::size_t who, bool from_now, Seq after);
    /// Connects again, and goes on where it was.
    void reconnect(std::size_t who);
    void hang_up(std::size_t who);
    void set_stuck(std::size_t who, bool stuck);
    bool is_connected(std::size_t who) const;
    /// Pages, and the news of commits, take so long from thread to thread.
    void slow_down(Host::Duration pages, Host::Duration news);

  private:
    class Connection;
    struct Page {
        Host::Duration due;
        Result<rpc::FeedPage> page;
        rpc::Feeds::Done done;
    };
    struct News {
        Host::Duration due;
        std::vector<Event> events;  // empty: nobody listened as they were committed
        Seq newest = 0;
    };

    void subscribe(std::size_t who, rpc::Subscription&& wanted);
    void take(std::size_t who, std::string_view lines);

    Host& host_;
    Ledger& ledger_;
    Node& node_;
    const OnLine on_line_;
    Host::Duration pages_take_{0};
    Host::Duration news_take_{0};
    std::unique_ptr<rpc::Feeds> feeds_;  // outlives the connections
    std::array<std::unique_ptr<Connection>, count> connections_;
    std::vector<Page> pages_;
    std::vector<News> news_;
};

}  // namespace knell::sim
