#include "cli/follow.hpp"

#include <chrono>
#include <cstdio>
#include <optional>

#include <unistd.h>

#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/stop_signals.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;

/// Printed in one piece; more is printed piece by piece, so that a long past does not fill memory.
constexpr std::size_t batch_events_max = 1000;
constexpr std::size_t names_max = 10'000;

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
        if (!events.empty()) {
            if (printer_.is_for_a_screen()) {
                add_short_ids(connection_, sessions_in(events), names_);
            }
            printer_.print_events(events, names_);
            // Of those who look on for days.
            if (names_.size() > names_max) names_.clear();
        }
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
    ShortIds names_;
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
