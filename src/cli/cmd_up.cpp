#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "client/daemon_environment.hpp"
#include "client/start_daemon.hpp"
#include "config/config.hpp"
#include "daemon/daemon.hpp"
#include "platform/environment.hpp"
#include "platform/lock_file.hpp"
#include "platform/path_names.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Without --detach it runs until it is told to stop, by `knell down`, SIGTERM or Ctrl-C, and logs to
standard error. With --detach it runs in the background, logs to knell.log, and this command
returns once it answers. It listens at the socket of its home, whatever KNELL_SOCKET says.

What --http says holds until the daemon stops. An address beyond loopback needs `behind_proxy` or
`trusted_network` under `http` in config.yaml. A daemon that runs already is left as it is.

Run by a service manager such as systemd it takes the socket that this listens at, says when it
is ready and that it is alive, and keeps of its environment what a daemon needs and what
secret_env names.

A section of config.yaml with an error in it does not keep the daemon from starting: what does no
harm holds instead (no session is reset, HTTP and the webhooks in error are off), and `knell status`
says so until it is repaired. With --strict it does not start then.

Examples:
  knell up --detach && knell status
  knell up --http 127.0.0.1:0

Exit status: 0 it runs (also when it ran before), 1 it could not be started, 2 wrong usage.)";

class Up final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("--detach", detach_, "Run in the background; return once it answers");
        app.add_option("--http", http_,
                       "Serve HTTP clients there, or with off nowhere (default: http.listen of "
                       "config.yaml)")
            ->option_text("ADDR:PORT|off")
            ->check([](const std::string& text) {
                return why_not_a_listen_address(text).value_or("");
            });
        app.add_flag("--strict", strict_,
                     "Refuse to start while config.yaml has an error in it (default: start without "
                     "what is in error)");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (!context.paths.calls_own_daemon()) {
            note(
                fmt::format("knell up: this home's socket is {}; commands with this KNELL_SOCKET "
                            "call {} instead",
                            context.paths.listen_socket, context.paths.socket));
        }
        if (detach_) return start(context);
        // A service manager has whatever was imported into it: that is nothing to a daemon either.
        if (!environment_variable("NOTIFY_SOCKET").empty()) {
            client::drop_other_variables(variables_in_config(context.paths));
        }
        return run_daemon({.paths = context.paths, .http_listen = http_, .is_strict = strict_});
    }

  private:
    /// Here rather than in the log of a daemon that has gone.
    static bool is_config_right(const Paths& paths) {
        const auto config = read_config(paths.config_file);
        if (config) return true;
        const auto names = PathNames::from_environment();
        for (const auto& problem : config.error()) note(names.in(to_text(problem)));
        complain("up",
                 "config.yaml has errors, and --strict wants none; correct what is named "
                 "above, or start without --strict");
        return false;
    }

    int start(const Context& context) const {
        const client::Deadline deadline{client::start_timeout_default};
        if (const auto checked = client::check_home(context.paths); !checked) {
            return complain("up", checked.error());
        }
        if (strict_ && !is_config_right(context.paths)) return exit_failed;
        // Also one whose socket was deleted: it answers again in a moment.
        const auto before = lock_holder(context.paths.lock_file);
        auto status = ask(client::Connection::open(context.paths.listen_socket, deadline));
        if (!status && status.error().code == ErrorCode::unreachable) {
            // None runs, or it is just going.
            status =
                ask(client::start_daemon(context.paths, variables_in_config, deadline, options()));
        }
        if (!status) return complain("up", status.error());
        const auto pid = wire::int_at(*status, "pid");
        const bool ran_before = before && before->pid == pid;
        print_line(fmt::format("{}: pid {}, socket {}",
                               ran_before ? "a daemon runs already" : "started", pid,
                               wire::text_at(*status, "socket")));
        return exit_done;
    }
    std::vector<std::string> options() const {
        std::vector<std::string> options;
        if (!http_.empty()) options = {"--http", http_};
        if (strict_) options.emplace_back("--strict");
        return options;
    }
    static Result<JsonObject> ask(Result<client::Connection> connection) {
        if (!connection) return std::unexpected(std::move(connection.error()));
        return connection->call_object("node.status", {});
    }

    bool detach_ = false;
    bool strict_ = false;
    std::string http_;
};

}  // namespace

std::unique_ptr<Command> make_up() {
    return std::make_unique<Up>();
}

}  // namespace knell::cli
