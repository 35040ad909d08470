#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "activity/classifier.hpp"
#include "activity/evidence_text.hpp"

// What the classifier says to people.

namespace knell {

namespace {

/// CPU below this share of a core is called none: a process that only wakes up to wait again.
constexpr double no_cpu_percent = 0.05;
/// Addresses that are named; a server may listen on hundreds.
constexpr std::size_t listens_named_max = 4;

double percent_of(std::chrono::nanoseconds cpu, std::chrono::nanoseconds time) {
    if (time.count() <= 0) return 0;
    return 100.0 * static_cast<double>(cpu.count()) / static_cast<double>(time.count());
}

std::string percent_text(double percent) {
    return fmt::format("{:.{}f} %", percent, percent < 1 ? 1 : 0);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string listens_text(const std::vector<std::string>& listens) {
    const auto named = std::min(listens.size(), listens_named_max);
    auto text = fmt::format(
        "listens on {}",
        fmt::join(listens.begin(), listens.begin() + static_cast<std::ptrdiff_t>(named), " and "));
    if (named < listens.size()) text += fmt::format(" and {} more", listens.size() - named);
    return text;
}

}  // namespace

std::string Classifier::work_evidence(const TreeSample& sample, const Deeds& minute,
                                      SteadyTime now) const {
    std::vector<std::string> signs;
    const auto seen_for = now - seen_since_.steady;
    const auto lately = fmt::format("in the last {}", lasting_text(minute.time));
    if (rules_.cpu.is_reached(minute.cpu, /*works=*/true)) {
        signs.push_back(fmt::format("used {} of a core {}",
                                    percent_text(percent_of(minute.cpu, minute.time)), lately));
    }
    if (rules_.io_bytes.is_reached(minute.io_bytes, /*works=*/true)) {
        signs.push_back(fmt::format("read and wrote {} {}", bytes_text(minute.io_bytes), lately));
    }
    if (rules_.connections.is_reached(minute.connections, /*works=*/true)) {
        signs.push_back(fmt::format(
            "{} {}", counted(minute.connections, "new connection", "new connections"), lately));
    }
    if (rules_.traffic_bytes.is_reached(minute.traffic_bytes, /*works=*/true)) {
        signs.push_back(
            fmt::format("{} over its connections {}", bytes_text(minute.traffic_bytes), lately));
    }
    if (rules_.new_processes.is_reached(minute.new_processes, /*works=*/true)) {
        signs.push_back(fmt::format("started {} {}",
                                    counted(minute.new_processes, "process", "processes"), lately));
    }
    if (sample.has_more_members) {
        signs.push_back(fmt::format("has more than {} processes", sample.members.size()));
    } else if (minute.restless_looks > 0) {
        signs.emplace_back(sample.is_blocked ? "waits for a disk" : "waits for the processor");
    }
    if (signs.empty() && seen_for < std::chrono::seconds{1}) {
        // Of one that a daemon took up again, or that could not be seen, it is only a first look.
        const bool is_new =
            seen_since_.steady == began_.steady && began_.wall - facts_.since < rules_.quiet;
        signs.emplace_back(is_new ? "new; nothing seen yet" : "nothing seen yet");
    } else if (signs.empty()) {
        signs.push_back(fmt::format("nothing to speak of for {}, idle after {}",
                                    lasting_text(seen_for), lasting_text(rules_.quiet)));
    }
    for (const auto& unseen : sample.unseen) signs.push_back(unseen);
    return fmt::format("{}", fmt::join(signs, ", "));
}

std::string Classifier::idle_evidence(const TreeSample& sample, Now now) const {
    const auto idle_for = now.steady - idle_since_.steady;
    const auto percent =
        percent_of(idle_cpu_, now.steady - std::max(idle_since_.steady, began_.steady));
    auto text = percent < no_cpu_percent ? fmt::format("no CPU for {}", lasting_text(idle_for))
                                         : fmt::format("{} of a core for {}", percent_text(percent),
                                                       lasting_text(idle_for));
    if (sample.is_stopped) text += ", is stopped by a signal";
    if (sample.sockets) text += socket_evidence(*sample.sockets, now.wall);
    if (!sample.terminal.empty()) text += ", waits at terminal " + sample.terminal;
    for (const auto& unseen : sample.unseen) text += ", " + unseen;
    return text;
}

std::string Classifier::socket_evidence(const TreeSockets& sockets, WallTime now) const {
    if (sockets.listens.empty()) return ", listens on nothing";
    const auto open = static_cast<std::uint64_t>(
        std::ranges::count_if(sockets.connections, [](const TreeConnection& connection) {
            return connection.is_accepted && connection.is_open;
        }));
    const auto since = moment_text(connected_.value_or(began_.wall), now);
    if (open == 0) {
        return fmt::format(", {}, no connection since {}", listens_text(sockets.listens), since);
    }
    return fmt::format(", {}, {} open, no traffic since {}", listens_text(sockets.listens),
                       counted(open, "connection", "connections"), since);
}

}  // namespace knell
