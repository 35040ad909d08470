#include <algorithm>
#include <vector>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/control_verbs.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "client/start_daemon.hpp"
#include "client/stop_daemon.hpp"
#include "config/config.hpp"
#include "platform/lock_file.hpp"
#include "platform/small_file.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Stops the daemon and starts the one that this knell is, after an upgrade above all. Sessions go
on: the new daemon looks at every process that keeps one before it answers, watches those that
live, and records those that ended in between. What clients follow goes on where it was, hooks
and webhooks miss nothing, and background processes run on. A daemon that a service manager runs
is started by that again.

It gets the --http that the one before was started with. When none runs, one is started.

Example:
  knell restart && knell status

Exit status: 0 it runs, 1 it did not stop or could not be started, 2 wrong usage.)";

/// The --http that a `knell up` was started with.  Its command line tells, where it may be read.
std::vector<std::string> options_of(pid_t pid) {
    const auto line = read_small_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
    std::vector<std::string> words;
    for (std::string_view rest = line; !rest.empty();) words.emplace_back(take_field(rest, '\0'));
    const auto named = std::ranges::find_if(
        words, [](const std::string& word) { return word.starts_with("--http"); });
    if (named == words.end()) return {};
    if (named->starts_with("--http=")) return {*named};
    return named + 1 == words.end() ? std::vector<std::string>{}
                                    : std::vector<std::string>{*named, *(named + 1)};
}

class Restart final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        const auto holder = lock_holder(context.paths.lock_file);
        const auto options =
            holder && holder->pid > 0 ? options_of(holder->pid) : std::vector<std::string>{};
        const auto stopped =
            client::stop_daemon(context.paths, client::Deadline{client::stop_timeout_default});
        if (!stopped) return complain("restart", stopped.error());
        auto status = start(context, options);
        if (!status) return complain("restart", status.error());
        return tell(*stopped, *status);
    }

  private:
    static Result<JsonObject> start(const Context& context,
                                    const std::vector<std::string>& options) {
        const client::Deadline deadline{client::start_timeout_default};
        // Where a service manager listens, to call is to have it started.
        auto connection = client::Connection::open(context.paths.listen_socket, deadline);
        if (!connection) {
            connection =
                client::start_daemon(context.paths, variables_in_config, deadline, options);
        }
        if (!connection) return std::unexpected(std::move(connection.error()));
        return connection->call_object("node.status", {});
    }

    int tell(const std::optional<pid_t>& before, const JsonObject& status) const {
        if (json_) {
            JsonObject result{{"pid", wire::int_at(status, "pid")},
                              {"version", wire::text_at(status, "version")},
                              {"commit", wire::text_at(status, "commit")}};
            if (before) result["stopped_pid"] = *before;
            print_json(result);
            return exit_done;
        }
        const auto now =
            fmt::format("pid {}, version {} ({})", wire::int_at(status, "pid"),
                        wire::text_at(status, "version"), wire::text_at(status, "commit"));
        print_line(before ? fmt::format("replaced: pid {} by {}", *before, now)
                          : fmt::format("started, as none ran: {}", now));
        return exit_done;
    }

    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_restart() {
    return std::make_unique<Restart>();
}

}  // namespace knell::cli
