#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <poll.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "end_stream.hpp"
#include "figures.hpp"
#include "follower.hpp"
#include "growth_fit.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sizes_full[] = {1'000, 10'000, 100'000, 1'000'000};
constexpr std::size_t rounds = 3;
constexpr std::size_t call_rounds = 7;
constexpr std::size_t throughput_calls = 10'000;
constexpr double idle_negligible = 0.1;  // per cent: what timers and five seconds of noise make

/// One figure at every size.
struct Figure {
    std::string name;
    std::string unit;
    Growth expected = Growth::constant;
    double per_second = 0;  // of `unit` in a second, for the plot; 0: no time
    double negligible = 0;  // whatever is below counts as this when growth is judged
    std::vector<Measured> at;

    std::vector<Measured> judged() const {
        auto costs = at;
        for (auto& [sessions, cost] : costs) cost = std::max(cost, negligible);
        return costs;
    }
};

/// The figures in the order in which they were first measured.
class Figures {
  public:
    /// What is added from now on was measured at this size.
    void next_size(double sessions) { sessions_ = sessions; }
    void add(double value, Figure figure) {
        auto found = std::ranges::find(all_, figure.name, &Figure::name);
        if (found == all_.end()) {
            all_.push_back(std::move(figure));
            found = std::prev(all_.end());
        }
        found->at.push_back({sessions_, value});
    }
    void add_micros(const std::string& name, double value) {
        add(value, {.name = name, .unit = "us", .per_second = 1e6});
    }
    const std::vector<Figure>& all() const { return all_; }

  private:
    double sessions_ = 0;
    std::vector<Figure> all_;
};

/// The best of several medians: neighbours on the machine only ever make it slower, and growth is
/// asked for here, not how it feels.
double best_p50(LoadClient& client, const Load& load) {
    auto best = percentiles_of(client.run(load).micros).p50;
    for (std::size_t round = 1; round < call_rounds; ++round) {
        best = std::min(best, percentiles_of(client.run(load).micros).p50);
    }
    return best;
}

Load same_call(std::string_view method, std::size_t calls, std::string params) {
    return {.method = method, .calls = calls, .params = [params](std::size_t, std::string& out) {
                out += params;
            }};
}

Load closes(const std::vector<std::string>& ids) {
    return {.method = "session.close",
            .calls = ids.size(),
            .params = [&ids](std::size_t number, std::string& out) {
                fmt::format_to(std::back_inserter(out), R"({{"session_id":"{}","generation":1}})",
                               ids[number]);
            }};
}

/// Starts and ends a second, through 64 connections; what was started is ended again, so that the
/// size stays what it is.
void measure_throughput(const DaemonUnderTest& daemon, std::size_t calls, Figures& figures) {
    LoadClient client(daemon.socket(), client_count);
    double start_us = 0;
    double end_us = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<std::string> ids;
        const auto starting =
            seconds_of([&] { ids = create_sessions(client, plain_creates(calls)); });
        const auto ending = client.run(closes(ids)).seconds;
        const auto each = 1e6 / static_cast<double>(ids.size());
        start_us = round == 0 ? starting * each : std::min(start_us, starting * each);
        end_us = round == 0 ? ending * each : std::min(end_us, ending * each);
    }
    figures.add_micros("start, one of many", start_us);
    figures.add_micros("end, one of many", end_us);
}

/// One connection, one create at a time: the best p50.  All of them are closed again.
double create_us(LoadClient& client, std::size_t count) {
    double best = 0;
    for (std::size_t round = 0; round < call_rounds; ++round) {
        std::vector<double> micros;
        std::vector<std::string> ids;
        while (ids.size() < count) {
            const auto start = seconds_now();
            ids.push_back(create_sessions(client, plain_creates(1)).front());
            micros.push_back((seconds_now() - start) * 1e6);
        }
        client.run(closes(ids));
        const auto p50 = percentiles_of(micros).p50;
        best = round == 0 ? p50 : std::min(best, p50);
    }
    return best;
}

/// SIGKILL of an owner to its end heard, p50.
double death_us(Caller& caller, const std::string& socket, std::size_t size, std::size_t count) {
    EndStream ends(subscribe(socket, R"({"types":["session:end"]})"), R"("session_id":"died-)");
    std::vector<double> micros;
    for (std::size_t i = 0; i < count; ++i) {
        const Victim victim;
        const auto number = size + i;  // another at every size
        caller.call("session.create", {{"id", "died-" + EndStream::digits_of(number)},
                                       {"source", "bench"},
                                       {"owner", JsonObject{{"pid", victim.pid()}}}});
        ends.expect(number, 1);
        const auto start = seconds_now();
        victim.kill();
        ends.read_for(10);
        if (!ends.is_complete()) throw Failed("an owner was killed and nobody heard of it");
        micros.push_back((ends.heard_at().front() - start) * 1e6);
    }
    return percentiles_of(micros).p50;
}

void measure_single_calls(Lab& lab, const DaemonUnderTest& daemon, std::size_t size,
                          Figures& figures) {
    LoadClient client(daemon.socket(), 1);
    const auto some = lab.scaled(500);
    const auto many = lab.scaled(2'000);
    const auto ids = create_sessions(client, plain_creates(1));
    figures.add_micros("one create", create_us(client, some));
    Caller caller(daemon.socket());
    figures.add_micros("one death heard", death_us(caller, daemon.socket(), size, lab.scaled(200)));
    const auto of_one = fmt::format(R"("session_id":"{}")", ids.front());
    figures.add_micros(
        "one heartbeat",
        best_p50(client,
                 same_call("session.heartbeat", many,
                           fmt::format(R"({{"sessions":[{{{},"generation":1}}]}})", of_one))));
    figures.add_micros(
        "show", best_p50(client, same_call("session.show", many, fmt::format("{{{}}}", of_one))));
    figures.add_micros("list the newest 50",
                       best_p50(client, same_call("session.list", some, R"({"limit":50})")));
    figures.add_micros(
        "page of 100 events",
        best_p50(client, same_call("events.read", some,
                                   fmt::format(R"({{"after":{},"limit":100}})", size / 2))));
}

/// A daemon that has answered and has nothing to do.
double idle_percent(Lab& lab, const DaemonUnderTest& daemon) {
    poll(nullptr, 0, 1'000);
    const auto cpu = daemon.cpu_seconds();
    const auto start = seconds_now();
    poll(nullptr, 0, lab.options().quick ? 1'000 : 5'000);
    return (daemon.cpu_seconds() - cpu) / (seconds_now() - start) * 100;
}

void measure_size(Lab& lab, const std::string& home, std::size_t size, std::int64_t empty_bytes,
                  Figures& figures) {
    const DaemonUnderTest daemon(lab.options().knell, home);
    figures.add(daemon.seconds_to_answer(),
                {.name = "restart", .unit = "s", .expected = Growth::linear, .per_second = 1});
    const auto used = static_cast<double>(daemon.memory().resident - empty_bytes);
    figures.add(used / (1024 * 1024),
                {.name = "memory", .unit = "MiB", .expected = Growth::linear});
    figures.add(idle_percent(lab, daemon),
                {.name = "idle CPU", .unit = "% of a core", .negligible = idle_negligible});
    measure_single_calls(lab, daemon, size, figures);
    measure_throughput(daemon, std::min(lab.scaled(throughput_calls), size), figures);
}

void report(Lab& lab, const std::vector<Figure>& figures) {
    Table table{.caption =
                    "The best of several medians at each size; *one of many* is 1 / rate over 64 "
                    "connections.",
                .header = {"what"},
                .lines = {}};
    for (const auto& at : figures.front().at) table.header.push_back(grouped(at.sessions));
    table.header.insert(table.header.end(), {"exponent", "grows", "should", "met"});
    for (const auto& figure : figures) {
        const auto growth = classify(figure.judged());
        const bool met = growth <= figure.expected;
        std::vector<std::string> line{figure.name};
        for (const auto& at : figure.at) line.push_back(with_unit(at.cost, for_page(figure.unit)));
        line.insert(line.end(), {fmt::format("{:.2f}", exponent_of(figure.judged())),
                                 std::string(to_string(growth)),
                                 std::string(to_string(figure.expected)), met ? "yes" : "**no**"});
        table.lines.push_back(std::move(line));
        Row row{.name = "growth." + figure.name,
                .what = fmt::format("{} at {} sessions", figure.name,
                                    grouped(figure.at.back().sessions)),
                .unit = figure.unit,
                .figure = spread_of({figure.at.back().cost}),
                .target = fmt::format("grows {} at most", to_string(figure.expected)),
                .met = met,
                .note = fmt::format("grows: {}", to_string(growth)),
                .also = {{"exponent", exponent_of(figure.judged())}},
                .tabled = true};
        Series curve{.name = figure.name, .points = {}, .dots = true};
        for (const auto& at : figure.at) {
            row.also.emplace_back(fmt::format("at_{:.0f}", at.sessions), at.cost);
            if (figure.per_second > 0) {
                curve.points.push_back({at.sessions, at.cost / figure.per_second});
            }
        }
        lab.add(std::move(row));
        if (!curve.points.empty()) lab.keep(std::move(curve));
    }
    lab.add_table(std::move(table));
}

}  // namespace

void measure_growth(Lab& lab) {
    const auto home = lab.new_home();
    make_store(home->path(), plain_session());
    std::int64_t empty_bytes = 0;
    {
        const auto empty = lab.new_home();
        empty_bytes = DaemonUnderTest(lab.options().knell, empty->path()).memory().resident;
    }
    Figures figures;
    std::size_t filled = 0;
    for (const auto full : sizes_full) {
        const auto size = lab.scaled(full);
        lab.say(fmt::format("{} sessions", grouped(size)));
        fill_store_with_leases(home->path(), size - filled);
        filled = size;
        figures.next_size(static_cast<double>(size));
        measure_size(lab, home->path(), size, empty_bytes, figures);
    }
    report(lab, figures.all());
}

}  // namespace knell::bench
