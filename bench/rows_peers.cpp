#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <poll.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "peer_process.hpp"
#include "rpc_line.hpp"

namespace knell::bench {

namespace {

constexpr int due_count = 1'000;
constexpr int redis_port = 16379;
constexpr int etcd_port = 12379;
constexpr int etcd_peer_port = 12380;
constexpr double give_up_after_s = 60;

/// How late ends were heard, in milliseconds after they were due, and how many were at all.
struct Lateness {
    std::vector<double> ms;

    Row as_row(const std::string& name, const std::string& what) const {
        const auto found = percentiles_of(ms.empty() ? std::vector<double>{0} : ms);
        return {.name = name,
                .what = what,
                .unit = "ms",
                .figure = spread_of({found.p50}),
                .note = fmt::format("{} of {} heard within {} s", ms.size(), due_count,
                                    give_up_after_s),
                .also = {{"p99_ms", found.p99},
                         {"max_ms", found.max},
                         {"heard", static_cast<double>(ms.size())}}};
    }
};

void add_with_ratio(Lab& lab, Row row, const Lateness& ours) {
    const auto base = percentiles_of(ours.ms).p50;
    row.baseline = "knell, the same leases in the same run: p50 late";
    row.baseline_figure = spread_of({base});
    row.ratio = spread_of({row.figure.median / std::max(base, 0.001)});
    lab.add(std::move(row));
}

// --- knell ---------------------------------------------------------------------------------------

Lateness knell_lateness(Lab& lab, std::size_t others) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), client_count);
    const auto leases = [](int ttl) {
        return [ttl](std::size_t, std::string& out) {
            out += fmt::format(R"({{"source":"bench","owner":{{"lease_ttl_s":{}}}}})", ttl);
        };
    };
    // So many others that the crowd falling due is no mass expiry.
    const auto staying = std::max<std::size_t>(others, 2 * due_count);
    client.run(
        {.method = "session.create", .calls = staying, .window = 64, .params = leases(3600)});
    LoadClient one(daemon.socket(), 1);
    std::vector<double> due;
    one.run({.method = "session.create",
             .calls = due_count,
             .window = 64,
             .params = leases(5),
             .answered = [&](std::size_t, std::string_view) { due.push_back(seconds_now() + 5); }});
    Caller caller(daemon.socket());
    auto next = static_cast<std::int64_t>(staying) + due_count;
    Lateness lateness;
    while (lateness.ms.size() < due_count && seconds_now() < due.back() + give_up_after_s) {
        const auto page = caller.call("events.read", {{"after", next}});
        const auto heard = seconds_now();
        const auto* events = wire::array_at(page, "events");
        for (std::size_t i = 0; i < events->size(); ++i) {
            lateness.ms.push_back((heard - due[lateness.ms.size()]) * 1e3);
        }
        next = wire::int_at(page, "next");
        if (events->empty()) poll(nullptr, 0, 1);
    }
    return lateness;
}

// --- Redis ---------------------------------------------------------------------------------------

Lateness redis_lateness(Lab& lab, std::size_t others) {
    const auto home = lab.new_home();
    const PeerProcess server(
        {"redis-server", "--port", std::to_string(redis_port), "--bind", "127.0.0.1", "--dir",
         home->path(), "--appendonly", "yes", "--appendfsync", "always", "--save", "",
         "--notify-keyspace-events", "Ex", "--daemonize", "no"},
        home->path() + "/redis.log");
    LoopbackStream writer(redis_port);
    LoopbackStream subscriber(redis_port);
    subscriber.send("SUBSCRIBE __keyevent@0__:expired\r\n");
    for (int line = 0; line < 6; ++line) subscriber.read_line();
    const auto set = [&](const std::string& prefix, std::size_t count, int ttl_ms) {
        std::string commands;
        for (std::size_t i = 0; i < count; ++i) {
            commands += fmt::format("SET {}{} x PX {}\r\n", prefix, i, ttl_ms);
            if (i % 1000 == 999 || i + 1 == count) {
                writer.send(commands);
                for (std::size_t n = i - i % 1000; n <= i; ++n) writer.read_line();
                commands.clear();
            }
        }
    };
    set("live:", others, 3'600'000);
    set("due:", due_count, 5'000);
    const auto due = seconds_now() + 5;
    Lateness lateness;
    while (lateness.ms.size() < due_count && seconds_now() < due + give_up_after_s) {
        if (!subscriber.wait_readable(100)) continue;
        // A message is six lines and its text: "*3 $7 message $n channel $m key".
        for (int line = 0; line < 7; ++line) subscriber.read_line();
        lateness.ms.push_back((seconds_now() - due) * 1e3);
    }
    return lateness;
}

// --- etcd ----------------------------------------------------------------------------------------

/// etcd's JSON gateway: one POST, one answer with a Content-Length.
std::string post(LoopbackStream& stream, std::string_view path, std::string_view body) {
    stream.send(fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n{}",
                            path, body.size(), body));
    std::size_t length = 0;
    for (auto line = stream.read_line(); !line.empty(); line = stream.read_line()) {
        std::ranges::transform(line, line.begin(),
                               [](char c) { return static_cast<char>(std::tolower(c)); });
        constexpr std::string_view name = "content-length: ";
        if (line.starts_with(name)) {
            std::from_chars(line.data() + name.size(), line.data() + line.size(), length);
        }
    }
    return stream.read_bytes(length);
}

/// "a" of "a\0" is every key from "a" on: base64 of both ends.
constexpr auto watch_all = R"({"create_request":{"key":"AA==","range_end":"AA=="}})";

Lateness etcd_lateness(Lab& lab, std::size_t others) {
    const auto home = lab.new_home();
    const auto url = [](int port) { return fmt::format("http://127.0.0.1:{}", port); };
    const PeerProcess server(
        {"etcd", "--data-dir", home->path() + "/etcd", "--listen-client-urls", url(etcd_port),
         "--advertise-client-urls", url(etcd_port), "--listen-peer-urls", url(etcd_peer_port),
         "--initial-advertise-peer-urls", url(etcd_peer_port), "--initial-cluster",
         "default=" + url(etcd_peer_port)},
        home->path() + "/etcd.log");
    LoopbackStream writer(etcd_port);
    const auto grant = [&](std::size_t id, int ttl) {
        post(writer, "/v3/lease/grant", fmt::format(R"({{"TTL":"{}","ID":"{}"}})", ttl, id));
    };
    for (std::size_t i = 0; i < others; ++i) grant(1'000'000 + i, 3600);
    LoopbackStream watcher(etcd_port);
    watcher.send(
        fmt::format("POST /v3/watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n{}",
                    std::string_view(watch_all).size(), watch_all));
    std::vector<double> due;
    for (std::size_t i = 0; i < due_count; ++i) {
        grant(i + 1, 5);
        due.push_back(seconds_now() + 5);
        // Keys are base64; four digits happen to be some.
        post(writer, "/v3/kv/put",
             fmt::format(R"({{"key":"{:04}","value":"eA==","lease":"{}"}})", i, i + 1));
    }
    Lateness lateness;
    while (lateness.ms.size() < due_count && seconds_now() < due.back() + give_up_after_s) {
        if (!watcher.wait_readable(100)) continue;
        auto line = watcher.read_line();
        const auto heard = seconds_now();
        for (auto at = line.find("\"DELETE\"");
             at != std::string::npos && lateness.ms.size() < due_count;
             at = line.find("\"DELETE\"", at + 1)) {
            lateness.ms.push_back((heard - due[lateness.ms.size()]) * 1e3);
        }
    }
    return lateness;
}

}  // namespace

void measure_peers(Lab& lab) {
    for (const std::size_t others : {std::size_t{0}, lab.scaled(20'000)}) {
        const auto what = [&](std::string_view who) {
            return fmt::format("{} leases of 5 s fall due beside {} others, {}: p50 late",
                               due_count, others, who);
        };
        lab.say(fmt::format("knell beside {}", others));
        const auto ours = knell_lateness(lab, others);
        lab.add(ours.as_row(fmt::format("expiry.knell.{}", others), what("knell")));
        if (is_installed("redis-server")) {
            lab.say(fmt::format("Redis beside {}", others));
            add_with_ratio(
                lab,
                redis_lateness(lab, others)
                    .as_row(fmt::format("expiry.redis.{}", others),
                            what("Redis TTL and keyspace notifications, appendfsync always")),
                ours);
        }
        if (is_installed("etcd")) {
            lab.say(fmt::format("etcd beside {}", others));
            add_with_ratio(lab,
                           etcd_lateness(lab, others)
                               .as_row(fmt::format("expiry.etcd.{}", others),
                                       what("etcd lease and watch, one node")),
                           ours);
        }
    }
}

}  // namespace knell::bench
