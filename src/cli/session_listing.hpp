#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/connection.hpp"

namespace knell::cli {

/// What `knell ls` asks for: sessions that are open, then the latest of those that ended.
struct ListingQuery {
    std::string source{};
    std::string key{};
    std::string status{};                          // of open ones
    std::string cwd{};                             // that directory, or one below it
    std::optional<std::chrono::seconds> within{};  // ended in the last so many seconds
    bool all = false;                              // also what is folded away
    bool open = true;
    std::int64_t ended_max = 0;  // 0: only what is open
};

/// How many there are beyond what is listed; counting ends at a page.
struct Folded {
    std::int64_t count = 0;
    bool is_more = false;  // than that
};

struct Listing {
    JsonArray sessions;    // open ones first, each kind with its newest first
    std::size_t open = 0;  // so many of them
    bool is_more_open = false;
    Folded ended;       // that would have been listed, had more been asked for
    Folded by_default;  // of sub-agents and cron, and empty ones that ended
};

/// Open ones are listed however many there are, up to this: what a program can hold.
inline constexpr std::size_t open_rows_max = 20'000;
inline constexpr std::int64_t ended_rows_max = 10'000;

Result<Listing> read_listing(client::Connection& connection, const ListingQuery& query);

/// "12 more ended; 3 of sub-agents, of cron or empty are folded away. All: knell ls -a"; "" when
/// everything is listed.  Pure.
std::string folded_line(const Listing& listing);

}  // namespace knell::cli
