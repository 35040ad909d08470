#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/status_report.hpp"
#include "client/connect.hpp"
#include "platform/lock_file.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
An end's proof is declared (somebody said so), observed (seen by the kernel or its parent), policy
or inferred. A leak is a session that ended without a reason: there must be none. What does not work
as it should is named as degraded.

Examples:
  knell status
  knell status --json | jq .sessions.open
  knell status --metrics > /var/lib/prometheus/node-exporter/knell.prom

Exit status: 0 a daemon answers, 1 none does, 2 wrong usage.)";

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
            print(render_facts(status_facts(*status), context.output));
        }
        return exit_done;
    }

  private:
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
