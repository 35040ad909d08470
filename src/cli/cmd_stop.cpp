#include <chrono>
#include <optional>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/process_rows.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"
#include "client/exit_watch.hpp"
#include "client/process_pages.hpp"
#include "client/process_words.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

/// SIGTERM, five seconds, SIGKILL, and time for a busy machine.
constexpr std::chrono::seconds gone_within{15};

constexpr auto footer = R"(
Stops background processes with everything they started: SIGTERM, then SIGKILL for what still runs
five seconds later. Only what is proven to belong to them is signalled. Waits until all of that is
gone, for up to 15 seconds, and says what was left running and why: nothing is stopped that owns an
open session, or has such an owner below it. To stop one that has exited is no error. Before it
stops several it asks, on a terminal.

With --session all background processes of a session are stopped; the session itself and its agent
go on.

Examples:
  knell stop p-0123456789abc
  knell stop --session build-42
  knell ps --json | jq -r '.processes[] | select(.activity == "listening") | .process_id' |
    xargs knell stop --yes

Exit status: 0 all are gone with everything they started, 1 some are not, 2 wrong usage.)";

class StopProcesses final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* ids = app.add_option("PROCESS", ids_, "The processes' ids, as `knell ps` shows them");
        app.add_option("--session", session_, "Stop all background processes of this session")
            ->option_text("ID")
            ->excludes(ids);
        app.add_flag("--no-wait", no_wait_, "Do not wait until they are gone");
        app.add_flag("--yes", yes_, "Do not ask");
        app.add_flag("--json", json_, "Print the results as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (ids_.empty() && session_.empty()) {
            complain("stop", "name processes, or a session with --session\nTry: knell stop --help");
            return exit_usage;
        }
        auto connection = client::connect(context.paths);
        if (!connection) return complain("stop", connection.error());
        const bool asks = !yes_ && is_terminal(STDIN_FILENO);
        auto found = find(*connection, asks);
        if (!found) return complain("stop", found.error());
        if (ids_.empty()) {
            if (json_) print_json(JsonObject{{"results", JsonArray{}}});
            note(fmt::format("session {} has no background processes that run", session_));
            return exit_done;
        }
        if (asks && found->size() > 1) {
            note_table(*found);
            if (!confirm("Stop what is listed above?")) {
                return complain("stop", "nothing was stopped");
            }
        }
        return stop_all(*connection);
    }

  private:
    /// What there is to stop: fills in the ids of a session's.
    Result<JsonArray> find(client::Connection& connection, bool asks) {
        if (!session_.empty()) {
            auto id = find_id_or_keep(connection, session_);
            if (!id) return std::unexpected(std::move(id.error()));
            session_ = std::move(*id);
            auto listed = client::list_processes(
                connection, {{"session_id", session_}},
                {.limit = limits::processes_max, .task_id = {}, .is_running = true});
            if (!listed) return std::unexpected(std::move(listed.error()));
            for (const auto& process : listed->processes) {
                ids_.emplace_back(wire::text_at(process.get_object(), "process_id"));
            }
            return std::move(listed->processes);
        }
        JsonArray found;
        if (!asks || ids_.size() < 2) return found;
        for (const auto& id : ids_) {
            auto process = connection.call_object("process.show", {{"process_id", id}});
            if (!process) return std::unexpected(std::move(process.error()));
            if (client::is_running(*process)) found.emplace_back(std::move(*process));
        }
        return found;
    }

    static void note_table(const JsonArray& processes) {
        auto text = process_table(processes, describe_terminal(STDERR_FILENO), read_clocks().wall);
        text.pop_back();  // note ends the last line itself
        note(text);
    }

    int stop_all(client::Connection& connection) {
        std::optional<client::ExitWatch> watch;
        if (!no_wait_) {
            auto begun = client::ExitWatch::begin(connection);
            if (!begun) return complain("stop", begun.error());
            watch.emplace(*begun);
        }
        std::vector<Result<JsonObject>> rows;
        for (const auto& id : ids_) {
            rows.push_back(connection.call_object("process.stop", {{"process_id", id}}));
        }
        const client::Deadline deadline{gone_within};
        JsonArray results;
        int status = exit_done;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto& row = rows[i];
            const bool was_gone = row && wire::bool_at(*row, "already_exited");
            if (watch && row && client::is_being_stopped(*row)) {
                row = watch->wait(ids_[i], deadline);
            }
            if (!tell(ids_[i], row, was_gone, results)) status = exit_failed;
        }
        if (json_) print_json(JsonObject{{"results", std::move(results)}});
        return status;
    }

    /// "" when it is as it was asked for.
    std::string why_not_stopped(const std::string& id, const JsonObject& row, bool was_gone) const {
        const bool runs = client::is_running(row);
        const auto pid = wire::int_at(row, "pid");
        const auto left = wire::text_at(row, "stop_failed");
        if (client::is_being_stopped(row)) {
            if (no_wait_) return {};
            return runs ? fmt::format(
                              "{} (pid {}) was told to stop {} s ago and still runs; look "
                              "again: knell ps",
                              id, pid, gone_within.count())
                        : fmt::format(
                              "{} (pid {}) is gone, but some of what it started still runs "
                              "after {} s; look again: knell ps",
                              id, pid, gone_within.count());
        }
        if (runs) return fmt::format("{} (pid {}) was not stopped: {}", id, pid, left);
        if (was_gone || left.empty()) return {};
        return fmt::format("{} (pid {}) is gone, but not all that it started: {}", id, pid, left);
    }

    /// False unless it is as it was asked for.
    bool tell(const std::string& id, const Result<JsonObject>& row, bool was_gone,
              JsonArray& results) const {
        if (!row) {
            complain("stop", row.error());
            results.emplace_back(
                JsonObject{{"process_id", id}, {"error", wire::to_json(row.error())}});
            return false;
        }
        results.emplace_back(*row);
        if (const auto why = why_not_stopped(id, *row, was_gone); !why.empty()) {
            complain("stop", why);
            return false;
        }
        if (!json_) {
            const auto* how = was_gone                         ? "had exited already"
                              : client::is_being_stopped(*row) ? "is being stopped"
                                                               : "stopped";
            const auto words = client::exit_words(*row);
            print_line(fmt::format("{} {}{}{}", id, how, words.empty() ? "" : ": ", words));
        }
        return true;
    }

    std::vector<std::string> ids_;
    std::string session_;
    bool no_wait_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stop() {
    return std::make_unique<StopProcesses>();
}

}  // namespace knell::cli
