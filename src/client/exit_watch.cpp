#include "client/exit_watch.hpp"

#include <poll.h>

#include "client/process_words.hpp"

namespace knell::client {

Result<ExitWatch> ExitWatch::begin(Connection& connection) {
    auto answer =
        connection.call_object("events.subscribe", {{"types", JsonArray{"process:exit"}}});
    if (!answer) return std::unexpected(std::move(answer.error()));
    return ExitWatch(connection);
}

Result<JsonObject> ExitWatch::wait(std::string_view process_id, const Deadline& deadline) {
    for (;;) {
        auto process = connection_.call_object("process.show", {{"process_id", process_id}});
        if (!process || !is_running(*process)) return process;
        const auto heard = hear(deadline);
        if (!heard) return std::unexpected(heard.error());
        if (!*heard) return process;
    }
}

Result<bool> ExitWatch::hear(const Deadline& deadline) {
    for (;;) {
        // All that was told counts as one: whoever asks looks at everything anew.
        bool is_told = false;
        for (;;) {
            auto told = connection_.take_notification();
            if (!told) return std::unexpected(std::move(told.error()));
            if (!told->has_value()) break;
            is_told = true;
        }
        if (is_told) return true;
        if (deadline.passed()) return false;
        pollfd waiting{.fd = connection_.fd(), .events = POLLIN, .revents = 0};
        (void)::poll(&waiting, 1, deadline.poll_millis());
    }
}

}  // namespace knell::client
