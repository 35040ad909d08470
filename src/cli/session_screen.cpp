#include "cli/session_screen.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/stop_signals.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto shown_anew_every = 2s;
/// Events often come in crowds: what they change is shown once.
constexpr auto crowd_within = 100ms;

/// Without a daemon this stays as it was.
constexpr auto home = "\x1b[H";
constexpr auto clear_line_end = "\x1b[K";
constexpr auto clear_below = "\x1b[J";
constexpr auto clear_all = "\x1b[2J";

class Watcher {
  public:
    Watcher(client::Connection connection, const Paths& paths, const MakeScreen& make)
        : connection_(std::move(connection)), paths_(paths), make_(make) {}

    int run() {
        print(clear_all);
        for (;;) {
            auto shown = subscribe();
            if (shown) shown = show_until_it_fails();
            if (shown) return exit_done;
            if (!may_come_back(shown.error())) return complain("ls", shown.error());
            print("the daemon went away; waiting for it\n");
            (void)std::fflush(stdout);
            auto next = wait_until_reachable(paths_, stop_);
            if (!next) return exit_done;
            connection_ = std::move(*next);
        }
    }

  private:
    /// To what changes sessions: it is only told when to look again.
    Result<void> subscribe() {
        auto answer = connection_.call_object("events.subscribe", {});
        if (!answer) return std::unexpected(std::move(answer.error()));
        return {};
    }

    /// Until told to stop.
    Result<void> show_until_it_fails() {
        for (;;) {
            const auto terminal = describe_terminal(STDOUT_FILENO);
            const auto text = make_(connection_, terminal);
            if (!text) return std::unexpected(text.error());
            print(repaint(*text, terminal_rows(STDOUT_FILENO)));
            if (std::fflush(stdout) != 0) return {};
            auto woken = stop_.wait_for(connection_.fd(), shown_anew_every);
            if (woken == Woken::ready) woken = stop_.wait_for(/*fd=*/-1, crowd_within);
            if (woken == Woken::told_to_stop) return {};
            if (auto taken = take_notifications(); !taken) return taken;
        }
    }

    Result<void> take_notifications() {
        for (;;) {
            const auto told = connection_.take_notification();
            if (!told) return std::unexpected(told.error());
            if (!*told) return {};
        }
    }

    const StopSignals stop_;
    client::Connection connection_;
    const Paths& paths_;
    const MakeScreen& make_;
};

}  // namespace

int watch_sessions(client::Connection connection, const Paths& paths, const MakeScreen& make) {
    return Watcher(std::move(connection), paths, make).run();
}

std::string repaint(std::string_view text, std::size_t rows) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    // The cursor stands on the line below.
    const auto room = std::max<std::size_t>(rows, 3) - 1;
    const auto shown = lines <= room ? lines : room - 1;
    std::string screen = home;
    for (std::size_t line = 0; line < shown; ++line) {
        const auto size = text.find('\n');
        screen += text.substr(0, size);
        screen += clear_line_end;
        screen += '\n';
        text.remove_prefix(size + 1);
    }
    if (shown < lines) {
        screen += fmt::format("{} more lines: make the terminal higher{}\n", lines - shown,
                              clear_line_end);
    }
    return screen + clear_below;
}

}  // namespace knell::cli
