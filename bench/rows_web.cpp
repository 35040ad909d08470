#include <iterator>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "mosquitto.hpp"
#include "must.hpp"
#include "web_client.hpp"

namespace knell::bench {

namespace {

using Http = DaemonUnderTest::Http;

constexpr std::size_t idle_clients = 15'000;
constexpr double idle_bytes_max = 12 * 1024;
constexpr std::size_t warm_up_clients = 200;
constexpr int keep_alive_s = 3'600;

double each(const Memory& before, const Memory& after, std::size_t count) {
    return static_cast<double>(after.resident - before.resident) / static_cast<double>(count);
}

/// Reads until there is an answer; what is pushed besides is read over.
void read_answer(const Fd& socket, std::vector<char>& buffer) {
    std::string bytes;
    while (!bytes.contains(R"("result":)")) {
        const auto got = recv(socket.get(), buffer.data(), buffer.size(), 0);
        must(got > 0, "the daemon hung up");
        bytes.append(buffer.data(), static_cast<std::size_t>(got));
        if (bytes.contains(R"("error":)")) throw Failed(bytes.substr(0, 300));
    }
}

/// A call on each.  At once: whoever answers no ping for 40 s is closed, and nobody does here.
void call_on_each(const std::vector<Fd>& sockets,
                  const std::function<std::string(std::size_t number)>& message) {
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        std::string frame;
        append_client_frame(frame, message(i));
        must(send(sockets[i].get(), frame.data(), frame.size(), MSG_NOSIGNAL) > 0, "send");
    }
    std::vector<char> buffer(64U << 10U);
    for (const auto& socket : sockets) read_answer(socket, buffer);
}

double mosquitto_bytes_each(const Lab& lab, std::size_t count) {
    const Mosquitto broker(lab);
    std::vector<Fd> clients;
    const auto connect = [&](std::size_t until) {
        while (clients.size() < until) {
            clients.push_back(connect_with_will(fmt::format("c{}", clients.size()), keep_alive_s));
        }
    };
    connect(warm_up_clients);
    const auto before = memory_of(broker.pid());
    connect(warm_up_clients + count);
    return each(before, memory_of(broker.pid()), count);
}

}  // namespace

void measure_web_idle(Lab& lab) {
    const auto wanted = lab.scaled(idle_clients);
    allow_clients(wanted + warm_up_clients);
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), Http::on);
    const auto count = web_clients_max(daemon.socket(), wanted + warm_up_clients) - warm_up_clients;
    const auto web = daemon.web();
    const auto warm = open_web_sockets(web, warm_up_clients);
    const auto before = daemon.memory();
    lab.say(fmt::format("connecting {} clients", grouped(count)));
    auto sockets = open_web_sockets(web, count);
    const auto idle = daemon.memory();
    const auto cpu_before = daemon.cpu_seconds();
    constexpr int quiet_ms = 3'000;
    poll(nullptr, 0, quiet_ms);
    const auto cpu = (daemon.cpu_seconds() - cpu_before) / (quiet_ms / 1000.0);
    lab.say("each with a session of its own");
    call_on_each(sockets, [](std::size_t number) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.create",)"
                           R"("params":{{"id":"s{}","source":"bench"}}}})",
                           number);
    });
    const auto with_session = daemon.memory();
    call_on_each(sockets, [](std::size_t number) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":2,"method":"session.attach",)"
                           R"("params":{{"session_id":"s{}"}}}})",
                           number);
    });
    const auto attached = daemon.memory();
    const auto figure = each(before, idle, count);
    Row row{
        .name = "web.idle",
        .what = fmt::format("resident memory of each of {} idle WebSocket clients", grouped(count)),
        .unit = "bytes",
        .figure = spread_of({figure}),
        .target = "< 12 KiB",
        .met = figure < idle_bytes_max,
        .note = count == wanted
                    ? ""
                    : fmt::format("{} were wanted; the limit on open files allows no more here.",
                                  grouped(wanted)),
        .also = {{"idle_cpu_share", cpu},
                 {"with_hosted_session", each(before, with_session, count)},
                 {"and_attached_to_it", each(before, attached, count)}}};
    if (is_installed("mosquitto")) {
        sockets.clear();  // as many again would be more than a process may have open
        const auto theirs = mosquitto_bytes_each(lab, count);
        row.baseline = "mosquitto, each client with a last will";
        row.baseline_figure = spread_of({theirs});
        row.ratio = spread_of({figure / theirs});
    }
    lab.add(std::move(row));
}

namespace {

constexpr std::size_t pipelined = 16;
constexpr double calls_min = 50'000;

/// The same calls over the unix socket and over WebSocket, in turns.
struct Compared {
    std::string row;
    std::string what;
    bool is_target = false;
    std::vector<double> web;
    std::vector<double> unix_socket;
    std::vector<double> web_cpu;
    std::vector<double> unix_cpu;

    void measure(LoadClient& client, const DaemonUnderTest& daemon, const Load& load, bool is_web) {
        const auto before = daemon.cpu_seconds();
        (is_web ? web : unix_socket).push_back(client.run(load).rate());
        const auto spent = daemon.cpu_seconds() - before;
        (is_web ? web_cpu : unix_cpu).push_back(spent * 1e6 / static_cast<double>(load.calls));
    }

    Row as_row() const {
        const auto reached = spread_of(web);
        Row made{.name = row,
                 .what = what,
                 .unit = "/s",
                 .figure = reached,
                 .baseline = "the same over the unix socket",
                 .baseline_figure = spread_of(unix_socket),
                 .ratio = spread_of(ratios(web, unix_socket)),
                 .also = {{"best_run", reached.high},
                          {"daemon_cpu_us_per_call", spread_of(web_cpu).median},
                          {"unix_socket_cpu_us_per_call", spread_of(unix_cpu).median}}};
        if (is_target) {
            made.target = ">= 50,000/s";
            made.met = reached.median >= calls_min;
        }
        return made;
    }
};

}  // namespace

void measure_web_calls(Lab& lab) {
    const auto calls = lab.scaled(200'000);
    Compared beat{.row = "web.beats",
                  .what =
                      "session.heartbeat of one session, 16 outstanding on each of 64 "
                      "WebSocket connections",
                  .is_target = true};
    Compared show{.row = "web.show", .what = "session.show, the same"};
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), Http::on);
    LoadClient over_unix(daemon.socket(), client_count);
    LoadClient over_web(daemon.web(), client_count);
    constexpr int an_hour_s = 3'600;
    const auto ids = create_sessions(over_unix, lease_creates(1'000, an_hour_s));
    const auto params = [&](std::size_t number, std::string& out) {
        fmt::format_to(std::back_inserter(out), R"({{"session_id":"{}","generation":1}})",
                       ids[number % ids.size()]);
    };
    const auto show_params = [&](std::size_t number, std::string& out) {
        fmt::format_to(std::back_inserter(out), R"({{"session_id":"{}"}})",
                       ids[number % ids.size()]);
    };
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        lab.say(fmt::format("run {}", run + 1));
        for (const bool is_web : {false, true}) {
            auto& client = is_web ? over_web : over_unix;
            beat.measure(client, daemon,
                         {.method = "session.heartbeat",
                          .calls = calls,
                          .window = pipelined,
                          .params = params},
                         is_web);
            show.measure(client, daemon,
                         {.method = "session.show",
                          .calls = calls / 4,
                          .window = pipelined,
                          .params = show_params},
                         is_web);
        }
    }
    lab.add(beat.as_row());
    lab.add(show.as_row());
}

}  // namespace knell::bench
