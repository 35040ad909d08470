#include <algorithm>

#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "sample_store.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sessions = 1'000'000;
constexpr std::size_t sources = 10;
constexpr double p99_max_ms = 5;
constexpr std::size_t warm_up_calls = 5;
constexpr double run_seconds = 1;

struct Listing {
    std::string name;
    std::string what;
    std::string params;
};

/// p50 of one connection asking the same again and again, and its p99.
void measure(Lab& lab, LoadClient& client, const Listing& listing) {
    std::vector<double> p50;
    std::vector<double> p99;
    lab.say(listing.name);
    Load load{.method = "session.list",
              .calls = warm_up_calls,
              .params = [&](std::size_t, std::string& out) { out += listing.params; }};
    // A listing that is far too slow need not be repeated as often to be known for it.
    const auto seconds_each = client.run(load).seconds / warm_up_calls;
    load.calls = std::clamp<std::size_t>(static_cast<std::size_t>(run_seconds / seconds_each), 5,
                                         lab.scaled(1'000));
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto found = percentiles_of(client.run(load).micros);
        p50.push_back(found.p50 / 1000);
        p99.push_back(found.p99 / 1000);
    }
    const auto slowest = spread_of(p99);
    lab.add({.name = listing.name,
             .what = listing.what + ": p50 of session.list " + listing.params,
             .unit = "ms",
             .figure = spread_of(p50),
             .target = "p99 < 5 ms",
             .met = slowest.median < p99_max_ms,
             .also = {{"p99_ms", slowest.median}, {"p99_worst_run_ms", slowest.high}}});
}

/// Ten sources and as many keys as there are chats.
void vary(std::size_t number, RowCopier& row) {
    static std::string source;
    static std::string key;
    source = fmt::format("source-{}", number % sources);
    key = fmt::format("agent:main:telegram:dm:{}", number % 1000);
    row.set(row.column("source"), std::string_view(source));
    row.set(row.column("key"), std::string_view(key));
}

/// As a cron job's session is kept: folded away by its origin.
void fold(std::size_t, RowCopier& row) {
    row.set(row.column("source"), std::string_view("cron"));
    row.set(row.column("fold"), std::int64_t{1});
}

}  // namespace

void measure_list(Lab& lab) {
    const auto count = lab.scaled(sessions);
    const auto home = lab.new_home();
    lab.say(fmt::format("filling a store with {} ended sessions", count));
    make_store(home->path(), lifelike_session());
    fill_store(home->path(), /*ended=*/true, count, vary);
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), 1);
    const auto of = fmt::format("of {} ended sessions", grouped(count));
    for (const auto& listing : {
             Listing{"list.ended", "newest 50 " + of, R"({"ended":true,"limit":50})"},
             Listing{"list.default", "what `knell ls` asks, " + of, R"({"limit":50})"},
             Listing{"list.source", "newest 50 of one source in ten, " + of,
                     R"({"source":"source-3","limit":50})"},
             Listing{"list.key", "newest 50 of one routing key in 1,000, " + of,
                     R"({"key":"agent:main:telegram:dm:7","limit":50})"},
             Listing{"list.page", "a page in the middle, " + of,
                     fmt::format(R"({{"ended":true,"limit":50,"cursor":"{}"}})", count / 2)},
             Listing{"list.last_page", "the last page, " + of,
                     R"({"ended":true,"limit":50,"cursor":"60"})"},
         }) {
        measure(lab, client, listing);
    }
}

void measure_list_behind(Lab& lab) {
    const auto count = lab.scaled(sessions);
    const auto home = lab.new_home();
    lab.say(fmt::format("filling a store with {} sessions in front of a few", count));
    make_store(home->path(), lifelike_session());
    fill_store(home->path(), /*ended=*/true, 1'000, vary);
    fill_store(home->path(), /*ended=*/true, count / 2, fold);
    fill_store(home->path(), /*ended=*/false, count / 2, fold);
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), 1);
    const auto behind =
        fmt::format("behind {} folded ended and as many folded open ones", grouped(count / 2));
    for (const auto& listing : {
             Listing{"list.behind.ended", "newest 50 ended " + behind,
                     R"({"ended":true,"limit":50})"},
             Listing{"list.behind.default", "what `knell ls` asks, " + behind, R"({"limit":50})"},
             Listing{"list.behind.open", "open ones, " + behind, R"({"ended":false,"limit":50})"},
             Listing{"list.behind.source_open", "open ones of a source " + behind,
                     R"({"source":"source-3","ended":false,"limit":50})"},
             Listing{"list.behind.source", "ended ones of a source " + behind,
                     R"({"source":"cron","ended":true,"limit":50})"},
         }) {
        measure(lab, client, listing);
    }
}

}  // namespace knell::bench
