#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "platform/clock.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"
#include "watch/process_table.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t open_calls = 200'000;
constexpr std::size_t opening_calls = 100'000;
constexpr std::size_t open_keys = 10'000;
constexpr std::size_t pipelined = 16;  // on each of 64 connections
constexpr double open_rate_min = 100'000;
constexpr double opening_rate_min = 20'000;
constexpr double idle_max_percent = 1;

void append_conversation(std::string& out, std::string_view of, std::size_t number) {
    fmt::format_to(std::back_inserter(out),
                   R"({{"key":"{}:telegram:dm:{}","source":"gateway","platform":"telegram",)"
                   R"("chat_type":"dm","user_id":"{}"}})",
                   of, number, number);
}

/// `keys` conversations in turn, as a gateway asks for them: it is their owner.
Load calls_of(std::string_view method, std::string_view of, std::size_t calls, std::size_t keys) {
    return {.method = method,
            .calls = calls,
            .window = pipelined,
            .params = [of, keys](std::size_t number, std::string& out) {
                append_conversation(out, of, number % keys);
            }};
}

struct Standing {
    std::int64_t open = 0;
    std::int64_t last_seq = 0;
    bool operator==(const Standing&) const = default;
};

Standing standing_of(Caller& caller) {
    const auto status = caller.call("node.status", {});
    return {wire::int_at(*wire::object_at(status, "sessions"), "open"),
            wire::int_at(*wire::object_at(status, "events"), "last_seq")};
}

struct Rates {
    std::vector<double> rate;
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> cpu;

    void measure(LoadClient& client, const DaemonUnderTest& daemon, const Load& load) {
        const auto before = daemon.cpu_seconds();
        const auto result = client.run(load);
        cpu.push_back((daemon.cpu_seconds() - before) * 1e6 / static_cast<double>(load.calls));
        const auto latency = percentiles_of(result.micros);
        rate.push_back(result.rate());
        p50.push_back(latency.p50);
        p99.push_back(latency.p99);
    }
    Row compared(std::string name, std::string what, std::string baseline,
                 const Rates& theirs) const {
        return {.name = std::move(name),
                .what = std::move(what),
                .unit = "/s",
                .figure = spread_of(rate),
                .baseline = std::move(baseline),
                .baseline_figure = spread_of(theirs.rate),
                .ratio = spread_of(ratios(rate, theirs.rate)),
                .also = {{"p50_us", spread_of(p50).median},
                         {"p99_us", spread_of(p99).median},
                         {"daemon_cpu_us_per_call", spread_of(cpu).median},
                         {"baseline_cpu_us_per_call", spread_of(theirs.cpu).median}}};
    }
};

/// Routes beside the calls that do the same work without looking for a session.
struct Routes {
    Rates opening;
    Rates creates;
    Rates open;
    Rates beats;
    std::vector<double> one_connection;
    bool none_opened_a_second = true;

    void run(Lab& lab);
};

void Routes::run(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), client_count);
    LoadClient one(daemon.socket(), 1);
    Caller caller(daemon.socket());
    const auto keys = lab.scaled(open_keys);
    const auto new_keys = lab.scaled(opening_calls);

    client.run(calls_of("session.route", "warm", new_keys / 10, new_keys / 10));
    lab.say("routes that open a session, and creates");
    opening.measure(client, daemon, calls_of("session.route", "new", new_keys, new_keys));
    creates.measure(client, daemon, calls_of("session.create", "created", new_keys, new_keys));

    auto load = calls_of("session.route", "open", keys, keys);
    const auto ids = create_sessions(client, load);
    const auto before = standing_of(caller);
    lab.say("routes of open keys, and heartbeats");
    open.measure(client, daemon, calls_of("session.route", "open", lab.scaled(open_calls), keys));
    load = calls_of("session.route", "open", lab.scaled(open_calls), keys);
    load.window = client_count * pipelined;
    one_connection.push_back(one.run(load).rate());
    none_opened_a_second = none_opened_a_second && standing_of(caller) == before;
    beats.measure(client, daemon,
                  {.method = "session.heartbeat",
                   .calls = lab.scaled(open_calls),
                   .window = pipelined,
                   .params = [&](std::size_t number, std::string& out) {
                       fmt::format_to(std::back_inserter(out),
                                      R"({{"session_id":"{}","generation":1}})",
                                      ids[number % ids.size()]);
                   }});
}

// --- a million keys --------------------------------------------------------------------------

/// Four policies; none falls due within a day but those of the day, twelve hours from now.
std::string policies() {
    const auto hours = to_millis(read_clocks().wall) / 3'600'000;
    return fmt::format(
        "session_reset:\n  mode: idle\n  idle_minutes: 10000\n  overrides:\n"
        "    - {{platform: telegram, mode: both, idle_minutes: 20000, at: {0}, time_zone: UTC}}\n"
        "    - {{platform: slack, mode: daily, at: {0}, time_zone: UTC}}\n"
        "    - {{platform: irc, mode: none}}\n",
        (hours + 12) % 24);
}

/// That many keys of a gateway that lives: this process.
void fill_with_keys(const std::string& home, std::size_t count) {
    constexpr std::array<std::string_view, 4> platforms{"telegram", "slack", "irc", "matrix"};
    auto draft = lifelike_session();
    draft.owner = {};
    draft.owner.kind = OwnerKind::process;
    draft.owner.host = "bench";
    const auto self = ProcTable().identify(getpid());
    if (!self) throw Failed("this process is not in /proc");
    draft.owner.process = *self;
    make_store(home, draft);
    int key_column = -1;
    int platform_column = -1;
    std::string key;
    fill_store(home, /*ended=*/false, count, [&](std::size_t number, RowCopier& row) {
        if (number == 0) {
            key_column = row.column("key");
            platform_column = row.column("platform");
        }
        key = fmt::format("agent:main:dm:{}", number);
        row.set(key_column, std::string_view(key));
        row.set(platform_column, platforms.at(number % platforms.size()));
    });
    std::ofstream(home + "/config.yaml") << policies();
}

struct Idle {
    double percent = 0;
    double restart_s = 0;
};

Idle idle_with_keys(const Lab& lab, std::size_t count) {
    const auto home = lab.new_home();
    lab.say(fmt::format("{} keys under policies", grouped(count)));
    fill_with_keys(home->path(), count);
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    poll(nullptr, 0, 2'000);
    const auto cpu = daemon.cpu_seconds();
    const auto start = seconds_now();
    poll(nullptr, 0, lab.options().quick ? 3'000 : 20'000);
    return {(daemon.cpu_seconds() - cpu) / (seconds_now() - start) * 100,
            daemon.seconds_to_answer()};
}

}  // namespace

void measure_routes(Lab& lab) {
    Routes routes;
    for (std::size_t run = 0; run < lab.runs(); ++run) routes.run(lab);
    auto open = routes.open.compared(
        "route.open",
        fmt::format("session.route of {} open keys, 16 outstanding on each of 64 connections",
                    grouped(lab.scaled(open_keys))),
        "session.heartbeat of the same sessions, the same way", routes.beats);
    open.target = ">= 100,000/s, and none opens a second session";
    open.met = open.figure.median >= open_rate_min && routes.none_opened_a_second;
    open.also.emplace_back("from_one_connection", spread_of(routes.one_connection).median);
    lab.add(std::move(open));
    auto opening = routes.opening.compared(
        "route.opening", "durable session.route of keys that nobody has, the same way",
        "session.create with the same fields, the same way", routes.creates);
    opening.target = ">= 20,000/s";
    opening.met = opening.figure.median >= opening_rate_min;
    lab.add(std::move(opening));
}

void measure_idle_keys(Lab& lab) {
    const auto count = lab.scaled(1'000'000);
    constexpr std::size_t few = 1'000;
    const auto with_few = idle_with_keys(lab, few);
    const auto with_many = idle_with_keys(lab, count);
    lab.add({.name = "idle.keys",
             .what = fmt::format("CPU of a daemon with {} keys under four reset policies when "
                                 "nothing happens",
                                 grouped(count)),
             .unit = "% of a core",
             .figure = spread_of({with_many.percent}),
             .baseline = fmt::format("the same with {} keys", grouped(few)),
             .baseline_figure = spread_of({with_few.percent}),
             .ratio = spread_of({with_many.percent / with_few.percent}),
             .target = "< 1 %",
             .met = with_many.percent < idle_max_percent,
             .also = {{"restart_s", with_many.restart_s}}});
}

}  // namespace knell::bench
