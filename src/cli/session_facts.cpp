#include "cli/session_facts.hpp"

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

using wire::int_at;
using wire::text_at;

ShownTime shown_time(bool utc) {
    return {.now = read_clocks().wall, .zone = utc ? ShownZone::utc : ShownZone::local};
}

std::string time_of(const JsonObject& object, std::string_view name, const ShownTime& shown) {
    const auto time = parse_rfc3339(text_at(object, name));
    if (!time) return std::string(text_at(object, name));
    return fmt::format("{} ({})", clock_text(*time, shown.zone), relative_time(*time, shown.now));
}

std::string exact_time_of(const JsonObject& object, std::string_view name, ShownZone zone) {
    const auto time = parse_rfc3339(text_at(object, name));
    return time ? exact_clock_text(*time, zone) : std::string(text_at(object, name));
}

std::string owner_text(const JsonObject& session, const ShownTime& shown) {
    const auto* owner = wire::object_at(session, "owner");
    if (owner == nullptr) return {};
    std::string text(text_at(*owner, "kind"));
    if (owner->contains("pid")) text += fmt::format(" {}", int_at(*owner, "pid"));
    if (owner->contains("lease_ttl_s")) {
        text += fmt::format(", renewed within {} s", int_at(*owner, "lease_ttl_s"));
    }
    if (owner->contains("window_s")) {
        text += fmt::format(", kept for {} s when nothing holds it", int_at(*owner, "window_s"));
    }
    if (const auto* process = wire::object_at(*owner, "stands_for")) {
        text += fmt::format(", for process {} of pid namespace {}", int_at(*process, "pid"),
                            int_at(*process, "pid_namespace"));
    }
    if (const auto host = text_at(*owner, "host"); !host.empty())
        text += fmt::format(" on {}", host);
    if (const auto since = time_of(*owner, "since", shown); !since.empty())
        text += " since " + since;
    return text;
}

std::string owner_loss_text(const JsonObject& session) {
    const auto act = text_at(session, "on_owner_loss");
    if (!session.contains("park_s")) return std::string(act);
    return fmt::format("{} for {} s", act, int_at(session, "park_s"));
}

std::string end_text(const JsonObject& session) {
    const auto reason = text_at(session, "reason");
    if (reason.empty()) return {};
    const auto proof = text_at(session, "proof");
    const auto detail = text_at(session, "detail");
    return fmt::format("{}{}{}{}", reason, proof.empty() ? "" : fmt::format(" ({})", proof),
                       detail.empty() ? "" : ": ", detail);
}

std::string bounds_text(const JsonObject& session, ShownZone zone) {
    const auto from = parse_rfc3339(text_at(session, "ended_after"));
    const auto to = parse_rfc3339(text_at(session, "ended_before"));
    // Between two looks of the watch nobody needs to know more exactly.
    if (!from || !to || *to - *from < std::chrono::seconds{1}) return {};
    return fmt::format("between {} and {}", exact_clock_text(*from, zone),
                       exact_clock_text(*to, zone));
}

}  // namespace knell::cli
