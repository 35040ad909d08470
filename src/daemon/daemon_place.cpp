#include "daemon/daemon_place.hpp"

#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

constexpr std::size_t bytes_max = 256;

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop == end || *stop != ' ') return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
    return true;
}

}  // namespace

std::string to_text(const DaemonPlace& place) {
    return fmt::format("{} {} {}\n", place.pid, place.pid_namespace, place.boot_id);
}

std::optional<DaemonPlace> parse_daemon_place(std::string_view text) {
    DaemonPlace place;
    if (!take_number(text, place.pid) || !take_number(text, place.pid_namespace)) {
        return std::nullopt;
    }
    // A line without its end was cut short.
    if (text.empty() || text.back() != '\n') return std::nullopt;
    place.boot_id = text.substr(0, text.size() - 1);
    return place;
}

std::optional<std::uint64_t> ended_namespace(const std::optional<DaemonPlace>& before,
                                             const DaemonPlace& ours) {
    if (!before || before->pid != 1 || before->pid_namespace == 0) return std::nullopt;
    if (before->boot_id.empty() || before->boot_id != ours.boot_id) return std::nullopt;
    // Or its inode is ours by now; what ran in it is then looked for here and not found.
    if (before->pid_namespace == ours.pid_namespace) return std::nullopt;
    return before->pid_namespace;
}

std::optional<std::uint64_t> take_place(const std::string& path, const DaemonPlace& ours) {
    const auto text = read_regular_file(path, bytes_max);
    const auto before = text ? parse_daemon_place(*text) : std::nullopt;
    // Gone first: what a full disk or a crash leaves must not speak for us.
    unlink(path.c_str());
    const Fd file{open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (file) {
        const auto line = to_text(ours);
        [[maybe_unused]] const auto written = write(file.get(), line.data(), line.size());
    }
    return ended_namespace(before, ours);
}

void note_place(const std::string& path, ProcTable& processes) {
    const auto ended = take_place(path, {.pid = getpid(),
                                         .pid_namespace = processes.own_pid_namespace(),
                                         .boot_id = processes.boot_id()});
    if (!ended) return;
    processes.add_ended_namespace(
        *ended, fmt::format("the daemon before this one was the first process of pid namespace {} "
                            "and has ended, and with it every process of that namespace",
                            *ended));
}

}  // namespace knell
