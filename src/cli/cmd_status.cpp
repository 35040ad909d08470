#include <algorithm>
#include <filesystem>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/status_report.hpp"
#include "client/connect.hpp"
#include "client/process_pages.hpp"
#include "core/limits.hpp"
#include "platform/lock_file.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
First comes whether all is well: hooks that do not deliver, owners that cannot be checked, a disk that
is nearly full and whatever does not work as it should make it not so, each with what to do about it.
An end's proof is declared (somebody said so), observed (seen by the kernel or its parent), policy
or inferred. A leak is a session that ended without a reason: there must be none.

Examples:
  knell status
  knell status --json | jq .sessions.open
  knell status --metrics > /var/lib/prometheus/node-exporter/knell.prom

Exit status: 0 all is well, 1 something has to be mended or no daemon answers, 2 wrong usage. With
--json and --metrics 0 means only that a daemon answers.)";

class ShowStatus final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* json = app.add_flag("--json", json_, "Print the result as JSON");
        app.add_flag("--metrics", metrics_, "Print the figures for Prometheus")->excludes(json);
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("status", explain(connection.error(), context.paths));
        const auto* method = metrics_ ? "node.metrics" : "node.status";
        const auto status = connection->call_object(method, {});
        if (!status) return complain("status", status.error());
        if (metrics_) {
            print(wire::text_at(*status, "text"));
        } else if (json_) {
            print_json(*status);
        } else {
            return report(*connection, *status, context);
        }
        return exit_done;
    }

  private:
    static int report(client::Connection& connection, const JsonObject& status,
                      const Context& context) {
        const auto around = look_around(connection, status, context.paths);
        if (!around) return complain("status", around.error());
        const auto verdict = judge_status(status, *around);
        print(verdict_text(status, verdict, context.output));
        print(render_facts(status_facts(status, *around), context.output));
        return verdict.is_healthy() ? exit_done : exit_failed;
    }

    static Result<DaemonSurroundings> look_around(client::Connection& connection,
                                                  const JsonObject& status, const Paths& paths) {
        DaemonSurroundings around;
        auto hooks = connection.call_object("hooks.list", {});
        if (!hooks) return std::unexpected(std::move(hooks.error()));
        around.hooks = std::move(*hooks);
        const auto running = client::list_processes(
            connection, {}, {.limit = limits::processes_max, .task_id = {}, .is_running = true});
        if (!running) return std::unexpected(running.error());
        around.leftovers = std::ranges::count_if(running->processes, [](const Json& process) {
            const auto* row = process.if_object();
            return row != nullptr && wire::text_at(*row, "origin") == "leftover";
        });
        std::error_code error;
        const auto home = std::string(wire::text_at(status, "home"));
        const auto space = std::filesystem::space(home, error);
        if (!error) {
            around.disk_free = static_cast<std::int64_t>(space.available);
            around.disk_bytes = static_cast<std::int64_t>(space.capacity);
        }
        // Of another home we do not know where it is.
        if (home != paths.state_dir) return around;
        around.log_file = paths.log_file;
        const auto size = std::filesystem::file_size(paths.log_file, error);
        if (!error) around.log_bytes = static_cast<std::int64_t>(size);
        return around;
    }

    /// Nobody answers: because no daemon runs, or because one runs and cannot be reached.
    static Error explain(Error error, const Paths& paths) {
        if (error.code != ErrorCode::unreachable || !paths.calls_own_daemon()) return error;
        const auto holder = lock_holder(paths.lock_file);
        if (!holder) return error;
        error.message = fmt::format(
            "a daemon runs, process {}, but does not answer at {}: it is starting, or its socket "
            "was deleted. Wait for it with: knell up --detach. Its log is {}",
            holder->pid > 0 ? fmt::to_string(holder->pid) : "?", paths.socket, paths.log_file);
        return error;
    }

    bool json_ = false;
    bool metrics_ = false;
};

}  // namespace

std::unique_ptr<Command> make_status() {
    return std::make_unique<ShowStatus>();
}

}  // namespace knell::cli
