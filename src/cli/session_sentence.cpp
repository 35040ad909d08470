#include "cli/session_sentence.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/session_rows.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using wire::int_at;
using wire::text_at;

constexpr std::size_t what_width_max = 40;

/// What it is, and where.
std::string subject_of(const JsonObject& session, std::string_view home) {
    const auto what = fit(one_line(what_of(session)), what_width_max);
    const auto* owner = wire::object_at(session, "owner");
    const auto command = owner == nullptr ? std::string_view{} : text_at(*owner, "command");
    std::string subject;
    if (what.empty()) {
        const auto source = one_line(text_at(session, "source"));
        subject = source.empty() ? "a session" : fmt::format("a {} session", source);
    } else {
        // A command is its own name; what a person calls it stands in quotes.
        subject = command.ends_with(text_at(session, "title")) ? what : fmt::format("\"{}\"", what);
    }
    const auto directory = text_at(session, "cwd");
    return directory.empty()
               ? subject
               : fmt::format("{} in {}", subject, one_line(short_directory(directory, home)));
}

struct Phrase {
    std::string_view reason;
    std::string_view text;
};
constexpr std::array phrases{
    Phrase{"completed", "ended by itself"},
    Phrase{"manual_reset", "was ended by a person for a new conversation"},
    Phrase{"auto_reset", "was reset by its policy when the next message came"},
    Phrase{"idle_expiry", "was ended by its policy because nobody had written for long"},
    Phrase{"daily_reset", "was ended by its policy at its time of the day"},
    Phrase{"detached_expiry", "was ended because no client and no work held it any more"},
    Phrase{"compression", "was replaced by a child that goes on from a summary"},
    Phrase{"branched", "was replaced by a branch"},
    Phrase{"superseded", "was taken over by another owner"},
    Phrase{"oom_killed", "was killed because the memory ran out"},
    Phrase{"owner_lost", "lost its owner, and nobody saw how that went"},
    Phrase{"host_restart", "ended because the machine restarted"},
    Phrase{"reaped", "was given up because its lease was not renewed in time"},
    Phrase{"node_lost", "was given up with the machine it ran on"},
    Phrase{"shutdown", "ended because the daemon that kept it was stopped"},
    Phrase{"imported", "had leaked in the store that it was imported from"},
};

std::string end_phrase(const JsonObject& session) {
    const auto reason = text_at(session, "reason");
    const auto detail = one_line(text_at(session, "detail"));
    const auto shown = short_end_text(session);
    const auto more = shown.size() > reason.size() ? shown.substr(reason.size() + 1) : "";
    if (reason == "signaled") return "died of " + (more.empty() ? "a signal" : more);
    if (reason == "exited") {
        return more.empty() ? "failed" : fmt::format("failed with exit status {}", more);
    }
    // What a command was asked by before it said that all was well.
    if (reason == "completed" && detail.starts_with("exit 0 after")) {
        return fmt::format("ended by itself ({})", detail);
    }
    for (const auto& [name, text] : phrases) {
        if (name == reason) return std::string(text);
    }
    return fmt::format("ended ({})", one_line(reason));
}

std::string idle_phrase(const JsonObject& session) {
    const auto activity = text_at(session, "activity");
    if (activity == "stopped") return "is stopped, as by Ctrl-Z";
    if (activity == "waiting") return "is alive and waits for input";
    if (activity == "working") return "is alive and working";
    return "is alive and idle";
}

std::string open_phrase(const JsonObject& session) {
    const auto status = text_at(session, "status");
    if (status == "running") return "is working on a prompt";
    if (status == "attached") {
        const auto clients = int_at(session, "attached");
        return clients == 1 ? "is open, and a client looks at it"
                            : fmt::format("is open, and {} clients look at it", clients);
    }
    if (status == "background") return "has only background work going on";
    if (status == "detached") {
        return session.contains("parked_since") ? "is without an owner and waits for the next"
                                                : "is open, and no client looks at it";
    }
    if (status == "stalled") return "is late to renew its lease, but its process lives";
    if (status == "unknown") return "cannot be checked, so nobody knows whether it lives";
    return idle_phrase(session);
}

std::optional<seconds> age_at(const JsonObject& session, std::optional<WallTime> then) {
    const auto started = parse_rfc3339(text_at(session, "started_at"));
    if (!started || !then || *then < *started) return std::nullopt;
    return std::chrono::floor<seconds>(*then - *started);
}

}  // namespace

std::string plain_duration(seconds duration) {
    const auto count = [](auto whole) { return whole.count(); };
    if (duration < 2min) return fmt::format("{} s", count(duration));
    if (duration < 2h) {
        return fmt::format("{} min", count(std::chrono::floor<std::chrono::minutes>(duration)));
    }
    if (duration < 48h) {
        return fmt::format("{} h", count(std::chrono::floor<std::chrono::hours>(duration)));
    }
    return fmt::format("{} days", count(std::chrono::floor<std::chrono::days>(duration)));
}

std::string session_sentence(const JsonObject& session, std::string_view home, WallTime now) {
    const bool ended = text_at(session, "status") == "ended";
    const auto age =
        age_at(session, ended ? parse_rfc3339(text_at(session, "ended_at")) : std::optional(now));
    auto sentence = fmt::format("{} {}", subject_of(session, home),
                                ended ? end_phrase(session) : open_phrase(session));
    if (age) {
        // "3 90 s" would be read as one number.
        const bool is_apart = !ended || (sentence.back() >= '0' && sentence.back() <= '9');
        sentence +=
            fmt::format("{} {} after it started", is_apart ? "," : "", plain_duration(*age));
    }
    if (sentence.front() >= 'a' && sentence.front() <= 'z' && what_of(session).empty()) {
        sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
    }
    return sentence + ".";
}

}  // namespace knell::cli
