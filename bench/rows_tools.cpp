#include <iterator>

#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "must.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sessions = 10'000;
constexpr int an_hour_s = 3600;
constexpr std::size_t reports_a_call = 100;
constexpr double rate_min = 200'000;

/// tool.report of one session a call, in turn: arguments and results differ, one in twenty fails.
Load reports(const std::vector<std::string>& ids, std::size_t calls) {
    return {.method = "tool.report",
            .calls = calls,
            .window = 8,
            .params = [&ids](std::size_t number, std::string& out) {
                auto to = std::back_inserter(out);
                fmt::format_to(to, R"({{"session_id":"{}","generation":1,"reports":[)",
                               ids[number % ids.size()]);
                for (std::size_t i = 0; i < reports_a_call; ++i) {
                    const auto one = number * reports_a_call + i;
                    const bool ok = one % 20 != 0;
                    fmt::format_to(to, R"({}{{"tool":"{}","ok":{},"args":{{"line":{}}}{}}})",
                                   i == 0 ? "" : ",", one % 3 == 0 ? "Bash" : "Read", ok, one,
                                   ok ? "" : R"(,"error":"no such file")");
                }
                out += "]}";
            }};
}

}  // namespace

void measure_tool_reports(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient opener(daemon.socket(), client_count);
    const auto ids = create_sessions(opener, lease_creates(sessions, an_hour_s));
    LoadClient client(daemon.socket(), 1);
    client.run(beats(ids, 500));  // warm-up
    client.run(reports(ids, 200));
    std::vector<double> ours;
    std::vector<double> of_beats;
    double cpu = 0;
    std::size_t count = 0;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto calls = lab.scaled(10'000);
        const auto before = daemon.cpu_seconds();
        ours.push_back(client.run(reports(ids, calls)).rate() * reports_a_call);
        cpu += daemon.cpu_seconds() - before;
        count += calls * reports_a_call;
        of_beats.push_back(client.run(beats(ids, calls)).rate() * beats_a_call);
    }
    Row row{.name = "tool_reports",
            .what = "tool.report from one connection, 100 reports a call, 10,000 sessions",
            .unit = "/s",
            .figure = spread_of(ours),
            .baseline = "session.heartbeat of the same sessions, 100 a call, in the same run",
            .baseline_figure = spread_of(of_beats),
            .ratio = spread_of(ratios(ours, of_beats)),
            .also = {{"daemon_cpu_ns_per_report", cpu * 1e9 / static_cast<double>(count)}}};
    row.target = ">= 200,000/s";
    row.met = row.figure.median >= rate_min;
    lab.add(std::move(row));
}

}  // namespace knell::bench
