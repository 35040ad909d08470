#include "client/end_watch.hpp"

#include "client/hear.hpp"

namespace knell::client {

namespace {

/// An event says when to look; this is only in case one gets lost with a daemon.
constexpr std::chrono::milliseconds look_again{2000};

}  // namespace

bool is_over(const JsonObject& session, std::int64_t generation) {
    return wire::text_at(session, "status") == "ended" ||
           wire::int_at(session, "generation") != generation;
}

Result<EndWatch> EndWatch::begin(Connection& connection) {
    auto answer = connection.call_object("events.subscribe", {{"types", JsonArray{"session:end"}}});
    if (!answer) return std::unexpected(std::move(answer.error()));
    return EndWatch(connection);
}

Result<JsonObject> EndWatch::wait(std::string_view session_id, std::int64_t generation,
                                  const Deadline& deadline) {
    for (;;) {
        auto session = connection_.call_object("session.show", {{"session_id", session_id}});
        if (!session || is_over(*session, generation) || deadline.passed()) return session;
        auto heard = hear(connection_, deadline, look_again);
        if (!heard) return std::unexpected(std::move(heard.error()));
    }
}

}  // namespace knell::client
