#include "client/exit_watch.hpp"

#include <poll.h>

#include "client/process_words.hpp"

namespace knell::client {

namespace {

/// Of what a process leaves running, and that it is left alone, no event tells.
constexpr std::chrono::milliseconds look_again{100};

}  // namespace

Result<ExitWatch> ExitWatch::begin(Connection& connection) {
    auto answer =
        connection.call_object("events.subscribe", {{"types", JsonArray{"process:exit"}}});
    if (!answer) return std::unexpected(std::move(answer.error()));
    return ExitWatch(connection);
}

Result<JsonObject> ExitWatch::wait(std::string_view process_id, const Deadline& deadline) {
    for (;;) {
        auto process = connection_.call_object("process.show", {{"process_id", process_id}});
        if (!process || !is_being_stopped(*process) || deadline.passed()) return process;
        if (auto heard = hear(deadline); !heard) return std::unexpected(std::move(heard.error()));
    }
}

Result<void> ExitWatch::hear(const Deadline& deadline) {
    pollfd waiting{.fd = connection_.fd(), .events = POLLIN, .revents = 0};
    // All that was told counts as one: whoever asks looks at everything anew.
    for (bool is_told = false;;) {
        auto told = connection_.take_notification();
        if (!told) return std::unexpected(std::move(told.error()));
        if (told->has_value()) {
            is_told = true;
        } else {
            if (!is_told) (void)::poll(&waiting, 1, deadline.poll_millis(look_again));
            return {};
        }
    }
}

}  // namespace knell::client
