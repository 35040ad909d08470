#include <CLI/App.hpp>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/stop_processes.hpp"
#include "cli/stop_sessions.hpp"
#include "client/connect.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
What begins with p- is a background process, all else a session.

A session's process is stopped first: SIGTERM, then SIGKILL if it still runs five seconds later.
Then its record ends, with what happened. What it started is dealt with as `knell run
--leftovers` said. A process that keeps other sessions too is left running; a session that no
process keeps only ends. On a terminal it asks first.

A background process is stopped with everything it started, in the same way. Only what is proven to
belong to it is signalled. Waits until all of that is gone, for up to 15 seconds, and says what was
left running and why: nothing is stopped that owns an open session, or has such an owner below it.

With --session all background processes of a session are stopped; the session itself and its agent
go on. To stop what has ended is no error.

Examples:
  knell stop build-42
  knell stop build-42 --dry-run
  knell stop p-0123456789abc
  knell stop --session build-42
  knell ps --json | jq -r '.processes[] | select(.activity == "listening") | .process_id' |
    xargs knell stop --yes

Exit status: 0 all are gone with everything they started, 1 some are not, 2 wrong usage.)";

bool is_process_id(const std::string& id) {
    return id.starts_with("p-");
}

class Stop final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* ids = app.add_option("ID", ids_, "Sessions, or background processes (p-...)");
        app.add_option("--session", session_, "Stop all background processes of this session")
            ->option_text("ID")
            ->excludes(ids);
        app.add_flag("--dry-run", dry_run_, "Only show what would be stopped");
        app.add_flag("--no-wait", no_wait_, "Do not wait until they are gone");
        app.add_flag("--yes", yes_, "Do not ask");
        app.add_flag("--json", json_, "Print the results as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (ids_.empty() && session_.empty()) {
            complain("stop",
                     "name sessions or background processes, or a session with --session\nTry: "
                     "knell stop --help");
            return exit_usage;
        }
        auto connection = client::connect(context.paths);
        if (!connection) return complain("stop", connection.error());
        const StopOptions options{.all_of_session = session_,
                                  .asks = !yes_ && is_terminal(STDIN_FILENO),
                                  .dry_run = dry_run_,
                                  .no_wait = no_wait_,
                                  .json = json_};
        std::vector<std::string> processes;
        std::vector<std::string> sessions;
        for (const auto& id : ids_) (is_process_id(id) ? processes : sessions).push_back(id);
        JsonArray results;
        int status = exit_done;
        if (!sessions.empty()) {
            status = stop_sessions(*connection, sessions, options, results);
        }
        if (!processes.empty() || !session_.empty()) {
            // What was followed for the sessions is not told on this one.
            auto another =
                sessions.empty() ? std::move(connection) : client::connect(context.paths);
            if (!another) return complain("stop", another.error());
            const int more = stop_processes(*another, std::move(processes), options, results);
            if (status == exit_done) status = more;
        }
        if (json_) {
            print_json(JsonObject{{dry_run_ ? "would_stop" : "results", std::move(results)}});
        }
        return status;
    }

  private:
    std::vector<std::string> ids_;
    std::string session_;
    bool dry_run_ = false;
    bool no_wait_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stop() {
    return std::make_unique<Stop>();
}

}  // namespace knell::cli
