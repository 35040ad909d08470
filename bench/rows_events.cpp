#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "follower.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t follower_count = 3;
constexpr std::size_t window = 16;
constexpr double lag_p50_max_us = 1'000;
constexpr double lag_p99_max_us = 10'000;
constexpr double live_rate_min = 50'000;
constexpr double behind_rate_min = 200'000;
constexpr double slowed_max = 0.1;

/// Takes sessions over again and again: two events a call, an end and a start.
Load takeovers(const std::vector<std::string>& ids, std::size_t calls) {
    return {.method = "session.resume",
            .calls = calls,
            .window = window,
            .params = [&ids](std::size_t number, std::string& out) {
                fmt::format_to(std::back_inserter(out),
                               R"({{"session_id":"{}","takeover":true,)"
                               R"("owner":{{"lease_ttl_s":3600}}}})",
                               ids[number % ids.size()]);
            }};
}

std::int64_t last_seq(const DaemonUnderTest& daemon) {
    const auto status = Caller(daemon.socket()).call("node.status", {});
    return wire::int_at(*wire::object_at(status, "events"), "last_seq");
}

/// Reads every column of every event, as SQLite gives them: events a second.
double scan_rate(const std::string& home, std::size_t count) {
    const RawDatabase database(paths_in(home).store_file, /*durable=*/true);
    RawStatement select(database, "SELECT * FROM events ORDER BY seq");
    std::size_t rows = 0;
    std::size_t bytes = 0;
    const auto seconds = seconds_of([&] {
        while (select.step()) {
            ++rows;
            for (int i = 0; i < sqlite3_column_count(select.handle()); ++i) {
                bytes += sqlite3_column_text(select.handle(), i) == nullptr ? 0U : 1U;
            }
        }
    });
    if (rows < count || bytes == 0) throw Failed("the store holds fewer events than it should");
    return static_cast<double>(rows) / seconds;
}

}  // namespace

void measure_feed_lag(Lab& lab) {
    const auto calls = lab.scaled(5'000);
    std::vector<double> event_p50;
    std::vector<double> answer_p50;
    std::vector<double> lag_p50;
    std::vector<double> lag_p99;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto home = lab.new_home();
        const DaemonUnderTest daemon(lab.options().knell, home->path());
        LoadClient client(daemon.socket(), 1);
        // Not from 0: the daemon's own start is in the log too.
        Follower follower(daemon.socket(), last_seq(daemon), calls);
        std::vector<double> answered;
        auto load = plain_creates(calls);
        load.answered = [&](std::size_t, std::string_view) { answered.push_back(seconds_now()); };
        const auto result = client.run(load);
        follower.finish();
        std::vector<double> lag;
        std::vector<double> whole;
        for (std::size_t i = 0; i < calls; ++i) {
            const auto behind = (follower.arrivals()[i] - answered[i]) * 1e6;
            lag.push_back(std::max(behind, 0.0));
            whole.push_back(result.micros[i] + behind);
        }
        event_p50.push_back(percentiles_of(whole).p50);
        answer_p50.push_back(percentiles_of(result.micros).p50);
        lag_p50.push_back(percentiles_of(lag).p50);
        lag_p99.push_back(percentiles_of(lag).p99);
    }
    const auto p50 = spread_of(lag_p50);
    const auto p99 = spread_of(lag_p99);
    lab.add({.name = "feed.lag",
             .what = "from a durable create to its event at a follower, p50",
             .unit = "us",
             .figure = spread_of(event_p50),
             .baseline = "from the same create to its answer",
             .baseline_figure = spread_of(answer_p50),
             .ratio = spread_of(ratios(event_p50, answer_p50)),
             .target = "event behind answer: p50 < 1 ms, p99 < 10 ms",
             .met = p50.median < lag_p50_max_us && p99.median < lag_p99_max_us,
             .also = {{"behind_answer_p50_us", p50.median}, {"behind_answer_p99_us", p99.median}}});
}

void measure_feed_live(Lab& lab) {
    const auto calls = lab.scaled(100'000);
    std::vector<double> alone;
    std::vector<double> followed;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto home = lab.new_home();
        const DaemonUnderTest daemon(lab.options().knell, home->path());
        LoadClient client(daemon.socket(), client_count);
        const auto ids = create_sessions(client, plain_creates(10'000));
        const auto load = takeovers(ids, calls);
        alone.push_back(2 * client.run(load).rate());
        const auto before = last_seq(daemon);
        std::vector<std::unique_ptr<Follower>> followers;
        for (std::size_t i = 0; i < follower_count; ++i) {
            followers.push_back(std::make_unique<Follower>(daemon.socket(), before, 2 * calls));
        }
        const auto start = seconds_now();
        client.run(load);
        for (const auto& follower : followers) follower->finish();
        followed.push_back(2 * static_cast<double>(calls) / (seconds_now() - start));
    }
    const auto rate = spread_of(followed);
    lab.add({.name = "feed.live",
             .what = "events a second through the log until three followers have them all",
             .unit = "/s",
             .figure = rate,
             .baseline = "the same calls without followers",
             .baseline_figure = spread_of(alone),
             .ratio = spread_of(ratios(followed, alone)),
             .target = "50,000 events/s",
             .met = rate.median >= live_rate_min});
}

void measure_feed_behind(Lab& lab) {
    const auto events = lab.scaled(1'000'000);
    const auto calls = lab.scaled(100'000);
    std::vector<double> rate;
    std::vector<double> scan;
    std::vector<double> quiet;
    std::vector<double> meanwhile;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto home = lab.new_home();
        lab.say(fmt::format("filling a store with {} events", grouped(events)));
        make_store(home->path(), lifelike_session());
        fill_store(home->path(), /*ended=*/true, events / 2, [](std::size_t, RowCopier&) {});
        scan.push_back(scan_rate(home->path(), events));
        const DaemonUnderTest daemon(lab.options().knell, home->path());
        {
            const auto start = seconds_now();
            Follower follower(daemon.socket(), 0, events);
            follower.finish();
            rate.push_back(static_cast<double>(events) / (seconds_now() - start));
        }
        LoadClient client(daemon.socket(), client_count);
        quiet.push_back(client.run(plain_creates(calls)).rate());
        Follower follower(daemon.socket(), 0, events);
        auto load = plain_creates(calls);
        std::size_t answers = 0;
        double last_beside = 0;
        load.answered = [&](std::size_t, std::string_view) {
            if (follower.is_done()) return;
            ++answers;
            last_beside = seconds_now();
        };
        const auto start = seconds_now();
        client.run(load);
        meanwhile.push_back(static_cast<double>(answers) / (last_beside - start));
        follower.finish();
    }
    const auto slowed = spread_of(ratios(meanwhile, quiet));
    const auto reached = spread_of(rate);
    lab.add({.name = "feed.behind",
             .what = fmt::format("a follower {} events behind catches up", grouped(events)),
             .unit = "/s",
             .figure = reached,
             .baseline = "SQLite reading the same rows",
             .baseline_figure = spread_of(scan),
             .ratio = spread_of(ratios(rate, scan)),
             .target = "200,000 events/s",
             .met = reached.median >= behind_rate_min});
    lab.add({.name = "feed.beside",
             .what = "creates a second while a follower catches up",
             .unit = "/s",
             .figure = spread_of(meanwhile),
             .baseline = "creates without one",
             .baseline_figure = spread_of(quiet),
             .ratio = slowed,
             .target = "slowed by a tenth at most",
             .met = slowed.median >= 1 - slowed_max});
}

}  // namespace knell::bench
