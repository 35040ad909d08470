#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "mosquitto.hpp"
#include "rpc_line.hpp"
#include "web_client.hpp"

namespace knell::bench {

namespace {

using Http = DaemonUnderTest::Http;

constexpr std::size_t followers = 5'000;
constexpr double last_max_ms = 100;
constexpr int patience_ms = 10'000;

/// Many sockets, of which it is awaited that each gets some bytes.
class Crowd {
  public:
    /// `mark` is in what is awaited and in nothing else that may come.
    explicit Crowd(std::string_view mark)
        : epoll_(epoll_create1(EPOLL_CLOEXEC)), mark_(mark), buffer_(64U << 10U) {}

    void add(Fd socket) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = sockets_.size()}};
        must(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0, "epoll_ctl");
        sockets_.push_back(std::move(socket));
    }

    /// When the last of them had it.
    double wait_for_all() {
        std::size_t missing = sockets_.size();
        std::array<epoll_event, 512> events{};
        while (missing > 0) {
            const auto count = epoll_wait(epoll_.get(), events.data(), events.size(), patience_ms);
            if (count <= 0) throw Failed(fmt::format("{} followers heard nothing", missing));
            for (int i = 0; i < count; ++i) {
                if (has_mark(events[static_cast<std::size_t>(i)].data.u64)) --missing;
            }
        }
        return seconds_now();
    }

  private:
    bool has_mark(std::size_t index) {
        const auto got = recv(sockets_[index].get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        must(got > 0, "a follower was hung up on");
        return std::string_view(buffer_.data(), static_cast<std::size_t>(got)).contains(mark_);
    }

    Fd epoll_;
    const std::string mark_;
    std::vector<char> buffer_;
    std::vector<Fd> sockets_;
};

Fd follow_by_web_socket(const WebAddress& web) {
    auto socket = open_web_socket(web);
    std::string frame;
    append_client_frame(frame, R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe"})");
    must(send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL) > 0, "send");
    std::array<char, 256> answer{};
    must(recv(socket.get(), answer.data(), answer.size(), 0) > 0, "subscribing");
    return socket;
}

/// Milliseconds until the last of `count` subscribers has a message of `bytes`.
std::vector<double> mosquitto_fanout(const Lab& lab, std::size_t count, std::size_t rounds,
                                     std::size_t bytes) {
    const Mosquitto broker(lab);
    Crowd crowd("event");
    for (std::size_t i = 0; i < count; ++i) {
        auto client = connect_with_will(fmt::format("f{}", i), /*keep_alive_s=*/3'600);
        subscribe_to(client, "event");
        crowd.add(std::move(client));
    }
    const auto publisher = connect_with_will("publisher", /*keep_alive_s=*/3'600);
    const std::string payload(bytes, 'e');
    std::vector<double> last;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto start = seconds_now();
        publish(publisher, "event", payload);
        last.push_back((crowd.wait_for_all() - start) * 1e3);
    }
    return last;
}

}  // namespace

void measure_web_fanout(Lab& lab) {
    const auto wanted = lab.scaled(followers);
    allow_clients(wanted);
    const std::size_t rounds = lab.options().quick ? 5 : 40;
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), Http::on);
    const auto count = web_clients_max(daemon.socket(), wanted);
    const auto web = daemon.web();
    Crowd crowd("session:start");
    lab.say(fmt::format("{} followers, half of each kind", grouped(count)));
    for (std::size_t i = 0; i < count / 2; ++i) {
        crowd.add(open_event_stream(web));
        crowd.add(follow_by_web_socket(web));
    }
    Caller caller(daemon.socket());
    std::vector<double> last;
    const auto cpu_before = daemon.cpu_seconds();
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto start = seconds_now();
        caller.call("session.create",
                    {{"source", "bench"}, {"owner", JsonObject{{"lease_ttl_s", 3'600}}}});
        last.push_back((crowd.wait_for_all() - start) * 1e3);
    }
    const auto cpu = (daemon.cpu_seconds() - cpu_before) * 1e3 / static_cast<double>(rounds);
    const auto figure = spread_of(last);
    Row row{.name = "web.fanout",
            .what = fmt::format("one durable session.create until the last of {} followers, half "
                                "SSE and half WebSocket, has its event",
                                grouped(count)),
            .unit = "ms",
            .figure = figure,
            .target = "<= 100 ms",
            .met = figure.median <= last_max_ms,
            .also = {{"p99_ms", percentiles_of(last).p99}, {"daemon_cpu_ms", cpu}}};
    if (is_installed("mosquitto")) {
        constexpr std::size_t event_bytes = 500;
        const auto theirs = spread_of(mosquitto_fanout(lab, count, rounds, event_bytes));
        row.baseline = "mosquitto, one message of 500 bytes to as many subscribers, not durable";
        row.baseline_figure = theirs;
        row.ratio = spread_of({figure.median / theirs.median});
    }
    lab.add(std::move(row));
}

namespace {

constexpr std::size_t cuts = 50;
constexpr double detach_told_after_s = 5;

/// A WebSocket client that is attached to a hosted session of its own.
Fd attached_client(const WebAddress& web, const std::string& session) {
    auto socket = open_web_socket(web);
    std::string frames;
    append_client_frame(frames, fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.create",)"
                                            R"("params":{{"id":"{}","source":"bench"}}}})",
                                            session));
    append_client_frame(frames, fmt::format(R"({{"jsonrpc":"2.0","id":2,"method":"session.attach",)"
                                            R"("params":{{"session_id":"{}"}}}})",
                                            session));
    must(send(socket.get(), frames.data(), frames.size(), MSG_NOSIGNAL) > 0, "send");
    return socket;
}

bool is_attached(Caller& caller, const std::string& session) {
    return wire::int_at(caller.call("session.show", {{"session_id", session}}), "attached") > 0;
}

void wait_until(const std::function<bool()>& is_true, int pause_ms, double within_s) {
    const auto start = seconds_now();
    while (!is_true()) {
        if (seconds_now() - start > within_s) throw Failed("nobody noticed");
        if (pause_ms > 0) poll(nullptr, 0, pause_ms);
    }
}

/// As a crash or a cable does it: no goodbye, not even of the kernel's.
void cut(Fd& socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket = {};
}

/// Microseconds from each cut to its will.
std::vector<double> mosquitto_cuts(const Lab& lab, std::size_t count) {
    const Mosquitto broker(lab);
    const auto listener = connect_with_will("listener", /*keep_alive_s=*/3'600);
    subscribe_to(listener, "will/#");
    std::vector<Fd> clients;
    for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(connect_with_will(fmt::format("c{}", i), /*keep_alive_s=*/3'600));
    }
    std::vector<double> micros;
    std::array<char, 256> will{};
    for (auto& client : clients) {
        const auto start = seconds_now();
        cut(client);
        must(recv(listener.get(), will.data(), will.size(), 0) > 0, "waiting for a will");
        micros.push_back((seconds_now() - start) * 1e6);
    }
    return micros;
}

}  // namespace

void measure_web_cut(Lab& lab) {
    const auto count = lab.scaled(cuts);
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), Http::on);
    const auto web = daemon.web();
    Caller caller(daemon.socket());
    std::vector<Fd> clients;
    for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(attached_client(web, fmt::format("s{}", i)));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto session = fmt::format("s{}", i);
        const auto knows = [&] {
            const auto found = caller.call("session.list", {{"all", true}, {"limit", 1000}});
            return wire::array_at(found, "sessions")->size() == count;
        };
        if (i == 0) wait_until(knows, /*pause_ms=*/1, /*within_s=*/10);
        wait_until([&] { return is_attached(caller, session); }, /*pause_ms=*/1, /*within_s=*/10);
    }
    const auto after = wire::int_at(
        caller.call("events.read", {{"after", 0}, {"limit", 1}, {"types", JsonArray{"notice"}}}),
        "next");
    std::vector<double> noticed;
    std::vector<double> cut_at;
    for (std::size_t i = 0; i < count; ++i) {
        cut_at.push_back(seconds_now());
        cut(clients[i]);
        wait_until([&] { return !is_attached(caller, fmt::format("s{}", i)); }, /*pause_ms=*/0,
                   /*within_s=*/10);
        noticed.push_back((seconds_now() - cut_at.back()) * 1e6);
    }
    // The last one is told last.
    const auto is_told = [&] {
        const auto page = caller.call(
            "events.read",
            {{"after", after}, {"limit", 1000}, {"types", JsonArray{"session:detach"}}});
        return wire::array_at(page, "events")->size() == count;
    };
    wait_until(is_told, /*pause_ms=*/1, /*within_s=*/30);
    const auto told = seconds_now() - cut_at.back();
    const auto found = percentiles_of(noticed);
    Row row{.name = "web.cut",
            .what =
                "an attached WebSocket client is cut until session.show says so, asked again "
                "and again: p50",
            .unit = "us",
            .figure = spread_of({found.p50}),
            .note = fmt::format("It is on record then, durably.  `session:detach` is told {} s "
                                "later, on purpose: whoever reloads a page is back by then.",
                                detach_told_after_s),
            .also = {{"p99_us", found.p99}, {"session_detach_told_after_s", told}}};
    if (is_installed("mosquitto")) {
        const auto theirs = percentiles_of(mosquitto_cuts(lab, count));
        row.baseline = "mosquitto, until the last will is heard, not durable: p50";
        row.baseline_figure = spread_of({theirs.p50});
        row.ratio = spread_of({found.p50 / theirs.p50});
        row.also.emplace_back("mosquitto_p99_us", theirs.p99);
    }
    lab.add(std::move(row));
}

void measure_web_silent(Lab& lab) {
    constexpr double silent_max_s = 45;
    constexpr int keep_alive_s = 30;
    constexpr int look_ms = 50;
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), Http::on);
    Caller caller(daemon.socket());
    // Neither of them reads or says anything from now on, and both are still connected.
    const auto client = attached_client(daemon.web(), "s");
    const auto start = seconds_now();
    const bool has_peer = is_installed("mosquitto");
    std::unique_ptr<Mosquitto> broker;
    Fd listener;
    Fd silent;
    if (has_peer) {
        broker = std::make_unique<Mosquitto>(lab);
        listener = connect_with_will("listener", /*keep_alive_s=*/3'600);
        subscribe_to(listener, "will/#");
        silent = connect_with_will("silent", keep_alive_s);
    }
    const auto their_start = seconds_now();
    double theirs = 0;
    double ours = 0;
    const auto look = [&] {
        if (ours == 0 && !is_attached(caller, "s")) ours = seconds_now() - start;
        pollfd will{.fd = listener.get(), .events = POLLIN, .revents = 0};
        if (has_peer && theirs == 0 && poll(&will, 1, 0) > 0) theirs = seconds_now() - their_start;
        return ours > 0 && (!has_peer || theirs > 0);
    };
    wait_until([&] { return is_attached(caller, "s"); }, /*pause_ms=*/1, /*within_s=*/10);
    wait_until(look, look_ms, /*within_s=*/100);
    Row row{.name = "web.silent",
            .what =
                "an attached WebSocket client that is connected and answers nothing is found "
                "out",
            .unit = "s",
            .figure = spread_of({ours}),
            .target = "<= 45 s",
            .met = ours <= silent_max_s};
    if (has_peer) {
        row.baseline = "mosquitto, keep-alive of 30 s";
        row.baseline_figure = spread_of({theirs});
        row.ratio = spread_of({ours / theirs});
    }
    lab.add(std::move(row));
}

}  // namespace knell::bench
