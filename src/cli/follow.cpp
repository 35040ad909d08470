#include "cli/follow.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "client/directory_watch.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;

/// Printed in one piece; more is printed piece by piece, so that a long past does not fill memory.
constexpr std::size_t batch_events_max = 1000;
/// A socket is there a moment before anybody listens, and only its making can be watched.
constexpr auto look_again_after = 250ms;

enum class Woken : std::uint8_t { ready, timed_out, told_to_stop };

/// Ctrl-C and SIGTERM as something to wait for, so that no line is cut in the middle.
class StopSignals {
  public:
    StopSignals() {
        sigset_t stops;
        sigemptyset(&stops);
        sigaddset(&stops, SIGINT);
        sigaddset(&stops, SIGTERM);
        sigprocmask(SIG_BLOCK, &stops, nullptr);
        fd_ = Fd{signalfd(-1, &stops, SFD_CLOEXEC)};
    }

    /// Waits until `fd` can be read.  The end of whoever reads our output counts as a stop: nobody
    /// would notice it otherwise until something happens.
    Woken wait_for(int fd, std::optional<std::chrono::milliseconds> wait_max = {}) const {
        std::array<pollfd, 3> watched{{{.fd = fd, .events = POLLIN, .revents = 0},
                                       {.fd = fd_.get(), .events = POLLIN, .revents = 0},
                                       {.fd = STDOUT_FILENO, .events = 0, .revents = 0}}};
        const int millis = wait_max ? static_cast<int>(wait_max->count()) : -1;
        const int count = ::poll(watched.data(), watched.size(), millis);
        if (watched[1].revents != 0 || watched[2].revents != 0) return Woken::told_to_stop;
        return count > 0 ? Woken::ready : Woken::timed_out;
    }

  private:
    Fd fd_;
};

bool may_come_back(const Error& error) {
    return error.code == ErrorCode::unreachable || error.code == ErrorCode::limit;
}

/// Nothing when told to stop.
std::optional<client::Connection> wait_until_reachable(const Paths& paths,
                                                       const StopSignals& stop) {
    client::DirectoryWatch watch(std::filesystem::path(paths.socket).parent_path().string());
    for (;;) {
        if (auto connection = client::connect(paths)) return std::move(*connection);
        if (stop.wait_for(watch.fd(), look_again_after) == Woken::told_to_stop) return {};
        watch.clear();
    }
}

class Follower {
  public:
    Follower(client::Connection connection, Follow follow, const EventPrinter& printer)
        : connection_(std::move(connection)), follow_(std::move(follow)), printer_(printer) {}

    int run() {
        for (;;) {
            auto end = subscribe();
            if (end) end = listen();
            if (end) return exit_done;
            if (!may_come_back(end.error())) return complain("events", end.error());
            if (is_terminal(STDERR_FILENO)) note("the daemon went away; waiting for it");
            if (!reconnect()) return exit_done;
        }
    }

  private:
    Result<void> subscribe() {
        auto params = follow_.filter;
        params["after"] = follow_.after;
        auto answer = connection_.call_object("events.subscribe", params);
        if (!answer) return std::unexpected(std::move(answer.error()));
        return {};
    }

    /// Until told to stop, or the connection fails.
    Result<void> listen() {
        for (;;) {
            const auto printed = print_what_is_here();
            if (!printed) return std::unexpected(printed.error());
            if (stop_.wait_for(connection_.fd(), *printed ? std::optional{0ms} : std::nullopt) ==
                Woken::told_to_stop) {
                return {};
            }
        }
    }

    /// True when there may be more.
    Result<bool> print_what_is_here() {
        std::deque<Json> events;
        std::optional<Error> failed;
        bool more = true;
        while (more && events.size() < batch_events_max) {
            auto told = connection_.take_notification();
            if (!told) failed = std::move(told.error());
            more = told && told->has_value();
            if (more) take(std::move(**told), events);
        }
        print_batch(events);
        if (failed) return std::unexpected(std::move(*failed));
        return more;
    }

    void take(JsonObject&& told, std::deque<Json>& events) {
        auto* params = told.if_contains("params");
        if (params == nullptr || !params->is_object()) return;
        const auto& object = params->get_object();
        if (wire::text_at(told, "method") == "event") {
            follow_.after = wire::int_at(object, "seq", follow_.after);
            events.push_back(std::move(*params));
        } else if (wire::text_at(told, "method") == "gap") {
            print_batch(events);
            printer_.print_gap(wire::int_at(object, "from"), wire::int_at(object, "to"));
            follow_.after = wire::int_at(object, "to", follow_.after);
        }
    }

    void print_batch(std::deque<Json>& events) {
        if (!events.empty()) printer_.print_events(events);
        events.clear();
        (void)std::fflush(stdout);  // a failure is found at the end
    }

    /// False when told to stop.
    bool reconnect() {
        auto connection = wait_until_reachable(follow_.paths, stop_);
        if (connection) connection_ = std::move(*connection);
        return connection.has_value();
    }

    const StopSignals stop_;
    client::Connection connection_;
    Follow follow_;
    const EventPrinter& printer_;
};

}  // namespace

std::optional<client::Connection> wait_for_daemon(const Paths& paths) {
    const StopSignals stop;
    note("no daemon is there; waiting for one");
    return wait_until_reachable(paths, stop);
}

int follow_events(client::Connection connection, Follow follow, const EventPrinter& printer) {
    return Follower(std::move(connection), std::move(follow), printer).run();
}

}  // namespace knell::cli
