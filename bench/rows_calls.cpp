#include <iterator>

#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"

namespace knell::bench {

namespace {

/// One method over 64 connections, each session once a run.
struct Method {
    std::string row;
    std::string what;
    std::vector<double> rate;
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> cpu;

    void measure(LoadClient& client, const DaemonUnderTest& daemon, const Load& load) {
        const auto before = daemon.cpu_seconds();
        const auto result = client.run(load);
        const auto spent = daemon.cpu_seconds() - before;
        const auto latency = percentiles_of(result.micros);
        rate.push_back(result.rate());
        p50.push_back(latency.p50);
        p99.push_back(latency.p99);
        cpu.push_back(spent * 1e6 / static_cast<double>(load.calls));
    }

    Row as_row() const {
        return {.name = row,
                .what = what,
                .unit = "/s",
                .figure = spread_of(rate),
                .also = {{"p50_us", spread_of(p50).median},
                         {"p99_us", spread_of(p99).median},
                         {"daemon_cpu_us_per_call", spread_of(cpu).median}}};
    }
};

}  // namespace

void measure_calls(Lab& lab) {
    const auto count = lab.scaled(50'000);
    const std::string content(1024, 'm');
    Method show{.row = "show", .what = "session.show, 64 connections"};
    Method append{.row = "append",
                  .what = "durable session.append of one 1 KiB message, 64 connections"};
    Method close{.row = "close", .what = "durable session.close, 64 connections"};
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto home = lab.new_home();
        const DaemonUnderTest daemon(lab.options().knell, home->path());
        LoadClient client(daemon.socket(), client_count);
        lab.say("sessions to work on");
        const auto ids = create_sessions(client, lifelike_creates(count));
        lab.say("show");
        show.measure(client, daemon,
                     {.method = "session.show",
                      .calls = count,
                      .params = [&](std::size_t number, std::string& out) {
                          fmt::format_to(std::back_inserter(out), R"({{"session_id":"{}"}})",
                                         ids[number]);
                      }});
        lab.say("append");
        append.measure(client, daemon,
                       {.method = "session.append",
                        .calls = count,
                        .params = [&](std::size_t number, std::string& out) {
                            fmt::format_to(std::back_inserter(out),
                                           R"({{"session_id":"{}","generation":1,)"
                                           R"("messages":[{{"role":"user","content":"{}"}}]}})",
                                           ids[number], content);
                        }});
        lab.say("close");
        close.measure(client, daemon,
                      {.method = "session.close",
                       .calls = count,
                       .params = [&](std::size_t number, std::string& out) {
                           fmt::format_to(std::back_inserter(out),
                                          R"({{"session_id":"{}","generation":1}})", ids[number]);
                       }});
    }
    for (const auto* method : {&show, &append, &close}) lab.add(method->as_row());
}

}  // namespace knell::bench
