#include "cli/session_listing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "core/read_limits.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

constexpr auto page_max = std::int64_t{limits::list_page_max};

bool is_in(std::string_view directory, std::string_view wanted) {
    if (wanted.empty() || wanted == "/" || directory == wanted) return true;
    return directory.starts_with(wanted) && directory[wanted.size()] == '/';
}

JsonObject params_of(const ListingQuery& query) {
    JsonObject params;
    if (!query.source.empty()) params["source"] = query.source;
    if (!query.key.empty()) params["key"] = query.key;
    if (query.all) params["all"] = true;
    return params;
}

struct Page {
    JsonArray sessions;
    std::string next;
};

Result<Page> read_page(client::Connection& connection, const JsonObject& params) {
    auto answer = connection.call_object("session.list", params);
    if (!answer) return std::unexpected(std::move(answer.error()));
    Page page{.sessions = {}, .next = std::string(text_at(*answer, "next"))};
    auto* sessions = answer->if_contains("sessions");
    if (sessions != nullptr && sessions->is_array()) {
        page.sessions = std::move(sessions->get_array());
    }
    return page;
}

Result<void> read_open(client::Connection& connection, const ListingQuery& query,
                       Listing& listing) {
    auto params = params_of(query);
    params["ended"] = false;
    params["limit"] = page_max;
    if (!query.status.empty()) params["status"] = query.status;
    for (;;) {
        auto page = read_page(connection, params);
        if (!page) return std::unexpected(std::move(page.error()));
        for (auto& session : page->sessions) {
            const auto* object = session.if_object();
            if (object == nullptr || !is_in(text_at(*object, "cwd"), query.cwd)) continue;
            listing.sessions.push_back(std::move(session));
        }
        listing.open = listing.sessions.size();
        listing.is_more_open = !page->next.empty() && listing.open >= open_rows_max;
        if (page->next.empty() || listing.is_more_open) return {};
        params["cursor"] = page->next;
    }
}

JsonObject ended_params(const ListingQuery& query) {
    auto params = params_of(query);
    params["by_end"] = true;
    if (!query.cwd.empty()) params["cwd"] = query.cwd;
    if (query.within) params["within_s"] = query.within->count();
    return params;
}

/// As many as were asked for, and how many are behind them.
Result<void> read_ended(client::Connection& connection, const ListingQuery& query,
                        Listing& listing) {
    auto params = ended_params(query);
    for (auto left = query.ended_max; left > 0;) {
        params["limit"] = std::min(left, page_max);
        auto page = read_page(connection, params);
        if (!page) return std::unexpected(std::move(page.error()));
        left -= static_cast<std::int64_t>(page->sessions.size());
        std::ranges::move(page->sessions, std::back_inserter(listing.sessions));
        if (page->next.empty()) return {};
        params["cursor"] = page->next;
    }
    params["limit"] = page_max;
    const auto rest = read_page(connection, params);
    if (!rest) return std::unexpected(rest.error());
    listing.ended = {static_cast<std::int64_t>(rest->sessions.size()), !rest->next.empty()};
    return {};
}

/// The daemon counts them itself.
Result<Folded> ask_folded(client::Connection& connection) {
    const auto answer = connection.call_object("session.list", {{"limit", 1}});
    if (!answer) return std::unexpected(answer.error());
    const auto count = wire::int_at(*answer, "folded");
    return Folded{count, count >= limits::folded_counted_max};
}

/// Of a part of all: those that are in a page of all and not in the same page of what is shown.
Result<void> count_folded(client::Connection& connection, const ListingQuery& query,
                          Listing& listing) {
    const bool is_of_all = query.open && query.ended_max > 0 && query.cwd.empty() && !query.within;
    if (is_of_all) {
        const auto folded = ask_folded(connection);
        if (!folded) return std::unexpected(folded.error());
        listing.by_default = *folded;
        return {};
    }
    for (const bool ended : {false, true}) {
        const bool is_asked_for = ended ? query.ended_max > 0 : query.open && query.cwd.empty();
        if (!is_asked_for) continue;
        auto params = ended ? ended_params(query) : JsonObject{{"ended", false}};
        params["limit"] = page_max;
        const auto shown = read_page(connection, params);
        params["all"] = true;
        const auto all = read_page(connection, params);
        if (!shown || !all) return std::unexpected((shown ? all : shown).error());
        // Where even what is shown fills a page, the page of all says nothing about the rest.
        if (!shown->next.empty()) continue;
        listing.by_default.count += static_cast<std::int64_t>(all->sessions.size()) -
                                    static_cast<std::int64_t>(shown->sessions.size());
        listing.by_default.is_more |= !all->next.empty();
    }
    return {};
}

std::string count_text(const Folded& folded) {
    if (!folded.is_more) return fmt::format("{}", folded.count);
    return folded.count == 0 ? "some" : fmt::format("more than {}", folded.count);
}

}  // namespace

Result<Listing> read_listing(client::Connection& connection, const ListingQuery& query) {
    Listing listing;
    Result<void> read;
    if (query.open) read = read_open(connection, query, listing);
    if (read && query.ended_max > 0) read = read_ended(connection, query, listing);
    const bool is_folding =
        !query.all && query.source.empty() && query.key.empty() && query.status.empty();
    if (read && is_folding) read = count_folded(connection, query, listing);
    if (!read) return std::unexpected(std::move(read.error()));
    return listing;
}

std::string folded_line(const Listing& listing) {
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : "; ") + part; };
    if (listing.is_more_open) {
        add(fmt::format("more than {} are open: knell ls --open --limit {} has pages of them",
                        listing.open, page_max));
    }
    const auto has = [](const Folded& folded) { return folded.count > 0 || folded.is_more; };
    if (has(listing.ended)) add(fmt::format("{} more ended", count_text(listing.ended)));
    if (has(listing.by_default)) {
        add(fmt::format("{} of sub-agents, of cron or empty", count_text(listing.by_default)));
    }
    return text.empty() ? text : text + ". All: knell ls -a";
}

}  // namespace knell::cli
