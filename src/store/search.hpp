#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/ids.hpp"
#include "core/search_terms.hpp"
#include "core/snippet.hpp"

namespace knell {

enum class SearchOrder : std::uint8_t { recent, best };
inline constexpr std::array<std::string_view, 2> search_order_names{"recent", "best"};

/// A place among what a search finds: behind that message.  Messages are numbered in the order in
/// which they came on record.
struct SearchCursor {
    std::int64_t score = 0;  // of the best first
    std::int64_t doc = 0;

    bool operator==(const SearchCursor&) const = default;
};

/// Messages that hold all the terms.  Filters come before the limit.
struct SearchQuery {
    SearchTerms terms;
    SessionId session_id{};  // empty: of all, and so the next
    std::string source{};
    std::string key{};
    std::string role{};
    std::optional<WallTime> since{};
    /// The last on record first, or the best, of equals the last.
    SearchOrder order = SearchOrder::recent;
    std::size_t limit = 0;
    std::optional<SearchCursor> after{};
    /// No more is looked at for one page: so many messages that hold the terms, so much text.
    std::size_t candidates_max = SIZE_MAX;
    std::size_t bytes_max = SIZE_MAX;
};

struct FoundMessage {
    SessionId session_id;
    std::string key;
    std::string source;
    std::string title;
    std::int64_t number = 0;  // of the message in its session
    std::string role;
    std::string tool_name;
    WallTime at;
    Snippet snippet;

    bool operator==(const FoundMessage&) const = default;
};

struct SearchPage {
    std::vector<FoundMessage> messages;
    std::optional<SearchCursor> next;  // there may be more behind it, also where the page is empty
    /// Of the best first: only the newest were compared, as many as may be looked at.
    bool is_partial = false;
};

}  // namespace knell
