#include "client/exit_watch.hpp"

#include "client/hear.hpp"
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
        auto heard = hear(connection_, deadline, look_again);
        if (!heard) return std::unexpected(std::move(heard.error()));
    }
}

}  // namespace knell::client
