#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include "lab.hpp"
#include "must.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

/// Microseconds of sending a line over a unix socket to a thread that sends it back.
std::vector<double> round_trips(std::size_t count) {
    constexpr std::size_t line_bytes = 128;
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    const Fd there{ends[0]};
    Fd here{ends[1]};
    std::jthread echo([&there] {
        char line[line_bytes];
        while (recv(there.get(), line, line_bytes, MSG_WAITALL) == ssize_t{line_bytes}) {
            send(there.get(), line, line_bytes, MSG_NOSIGNAL);
        }
    });
    std::vector<double> micros;
    char line[line_bytes] = {};
    for (std::size_t i = 0; i < count; ++i) {
        const auto start = seconds_now();
        must(send(here.get(), line, line_bytes, MSG_NOSIGNAL) == ssize_t{line_bytes}, "send");
        must(recv(here.get(), line, line_bytes, MSG_WAITALL) == ssize_t{line_bytes}, "recv");
        micros.push_back((seconds_now() - start) * 1e6);
    }
    here.reset();  // the echo ends
    return micros;
}

std::vector<double> wake_ups(std::size_t count) {
    std::vector<double> micros;
    while (micros.size() < count) micros.push_back(pidfd_wake_up_us());
    return micros;
}

/// A row of p50 in microseconds; `take` measures one run.
template <typename Take>
void add_limit(Lab& lab, const char* name, const char* what, Take take) {
    std::vector<double> p50;
    std::vector<double> p99;
    take();  // warm-up
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto found = percentiles_of(take());
        p50.push_back(found.p50);
        p99.push_back(found.p99);
    }
    lab.add({.name = name,
             .what = what,
             .unit = "us",
             .figure = spread_of(p50),
             .also = {{"p99_us", spread_of(p99).median}}});
}

}  // namespace

void measure_limits(Lab& lab) {
    const auto home = lab.new_home();
    SyncProbe probe(home->path());
    add_limit(lab, "limit.fdatasync", "write 4 KiB in place and fdatasync: p50",
              [&] { return probe.times(lab.scaled(2'000)); });
    add_limit(lab, "limit.pidfd", "SIGKILL until a pidfd of the process is readable: p50",
              [&] { return wake_ups(lab.scaled(500)); });
    add_limit(lab, "limit.round_trip", "a line over a unix socket to another thread and back: p50",
              [&] { return round_trips(lab.scaled(10'000)); });
}

}  // namespace knell::bench
