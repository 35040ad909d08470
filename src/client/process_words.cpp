#include "client/process_words.hpp"

#include "core/departure.hpp"

namespace knell::client {

using wire::int_at;
using wire::text_at;

bool is_running(const JsonObject& process) {
    return text_at(process, "state") == "running";
}

bool is_being_stopped(const JsonObject& process) {
    // A daemon of an earlier version says only that it was asked for.
    if (!process.contains("stopping"))
        return process.contains("stop_asked_at") && is_running(process);
    return wire::bool_at(process, "stopping");
}

std::string exit_words(const JsonObject& process) {
    const auto* exit = wire::object_at(process, "exit");
    if (exit == nullptr) return {};
    const auto kind = text_at(*exit, "kind");
    const auto signal = static_cast<int>(int_at(*exit, "signal"));
    if (kind == "exited") {
        return detail_for(
            {.kind = Departure::Kind::exited, .number = static_cast<int>(int_at(*exit, "code"))});
    }
    if (kind == "signaled") {
        return detail_for({.kind = Departure::Kind::signaled, .number = signal});
    }
    if (kind == "oom_killed") return "killed by the kernel for want of memory";
    if (kind == "host_restart") return "the host was restarted";
    const std::string evidence(text_at(*exit, "evidence"));
    if (kind == "never_ran") return "never ran" + (evidence.empty() ? "" : ": " + evidence);
    return "gone, nobody saw how";
}

std::string session_words(const JsonObject& process) {
    const auto session = text_at(process, "session");
    if (session == "ended") return "its session has ended";
    if (session == "none") return "it has no session any more";
    return {};
}

}  // namespace knell::client
