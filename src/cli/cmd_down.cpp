#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "client/stop_daemon.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Sessions are left as they are: what owns them lives on, and the next daemon finds out which ended
in between. It is the daemon of this home that is stopped, whatever KNELL_SOCKET says; one whose
socket does not answer is found by its lock.

Example:
  knell down && knell up --detach

Exit status: 0 no daemon runs any more (also when none ran), 1 it did not stop, 2 wrong usage.)";

class Down final : public Command {
  public:
    void declare(CLI::App& app) override { app.footer(footer); }

    int run(const Context& context) override {
        const auto stopped =
            client::stop_daemon(context.paths, client::Deadline{client::stop_timeout_default});
        if (!stopped) return complain("down", stopped.error());
        print_line(said_of(*stopped, context));
        return exit_done;
    }

  private:
    static std::string said_of(std::optional<pid_t> stopped, const Context& context) {
        if (!stopped) {
            const auto own = client::check_home(context.paths);
            if (own) return fmt::format("no daemon runs at {}", context.paths.listen_socket);
            return fmt::format("no daemon of this home runs: {}", own.error().message);
        }
        if (*stopped == 0) return "stopped";  // it has no pid here
        return fmt::format("stopped: pid {}", *stopped);
    }
};

}  // namespace

std::unique_ptr<Command> make_down() {
    return std::make_unique<Down>();
}

}  // namespace knell::cli
