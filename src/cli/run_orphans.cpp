#include "cli/run_orphans.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/leftover_rows.hpp"
#include "cli/text_width.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell::cli {

namespace {

/// What goes so soon after the command was not left running; as the daemon has it.
constexpr int looks_max = 10;
constexpr int look_every_ms = 20;

/// Nothing where the kernel does not tell.
std::optional<std::vector<pid_t>> own_children() {
    const auto text = read_small_file(fmt::format("/proc/self/task/{}/children", ::getpid()));
    if (!text) return std::nullopt;
    std::vector<pid_t> found;
    const char* at = text->data();
    const char* const end = at + text->size();
    for (pid_t pid = 0; at < end; ++at) {
        const auto read = std::from_chars(at, end, pid);
        if (read.ec == std::errc{}) found.push_back(pid);
        at = read.ptr;
    }
    return found;
}

std::optional<std::vector<pid_t>> living_orphans(const OrphanSearch& search) {
    auto found = own_children();
    if (!found) return std::nullopt;
    std::erase_if(*found, [&](pid_t pid) {
        if (pid == search.command || pid == search.renewer) return true;
        const auto stat = read_proc_stat(pid);
        return !stat || stat->is_dead();
    });
    return found;
}

std::string command_line(pid_t pid) {
    auto text = read_small_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
    while (text.ends_with('\0')) text.pop_back();
    std::ranges::replace(text, '\0', ' ');
    constexpr std::size_t columns_max = 120;
    return fit(one_line(text), columns_max);
}

}  // namespace

std::vector<std::string> orphan_lines(const OrphanSearch& search) {
    auto found = search.had_children ? std::nullopt : living_orphans(search);
    for (int looks = 0; found && !found->empty() && looks < looks_max; ++looks) {
        ::poll(nullptr, 0, look_every_ms);
        found = living_orphans(search);
    }
    if (!found) {
        return {fmt::format("what it left running was not looked for: {}", search.why)};
    }
    const auto* const undone = search.should_stop ? "stopped" : "recorded";
    std::vector<std::string> lines;
    for (const auto pid : *found) {
        if (lines.size() == leftover_lines_max) {
            lines.push_back(
                fmt::format("{} more were left, not {}", found->size() - lines.size(), undone));
            break;
        }
        lines.push_back(fmt::format("left running, not {}: {} {} ({})", undone, pid,
                                    command_line(pid), search.why));
    }
    return lines;
}

}  // namespace knell::cli
