#include "cli/stop_processes.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

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

class ProcessStops {
  public:
    ProcessStops(client::Connection& connection, std::vector<std::string> ids,
                 const StopOptions& options)
        : connection_(connection), ids_(std::move(ids)), options_(options) {}

    int run(JsonArray& results) {
        auto found = find();
        if (!found) return complain("stop", found.error());
        if (ids_.empty()) {
            note(fmt::format("session {} has no background processes that run",
                             options_.all_of_session));
            return exit_done;
        }
        if (options_.dry_run) return preview(*found, results);
        if (options_.asks && found->size() > 1) {
            note_table(*found);
            if (!confirm("Stop what is listed above?")) {
                return complain("stop", "nothing was stopped");
            }
        }
        return stop_all(results);
    }

  private:
    /// What there is to stop: fills in the ids of a session's.
    Result<JsonArray> find() {
        if (!options_.all_of_session.empty()) {
            auto id = find_id_or_keep(connection_, options_.all_of_session);
            if (!id) return std::unexpected(std::move(id.error()));
            auto listed = client::list_processes(
                connection_, {{"session_id", *id}},
                {.limit = limits::processes_max, .task_id = {}, .is_running = true});
            if (!listed) return std::unexpected(std::move(listed.error()));
            for (const auto& process : listed->processes) {
                ids_.emplace_back(wire::text_at(process.get_object(), "process_id"));
            }
            return std::move(listed->processes);
        }
        JsonArray found;
        const bool is_asked = options_.asks && ids_.size() > 1;
        if (!is_asked && !options_.dry_run) return found;
        for (const auto& id : ids_) {
            auto process = connection_.call_object("process.show", {{"process_id", id}});
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

    int preview(const JsonArray& found, JsonArray& results) const {
        for (const auto& process : found) results.emplace_back(process);
        if (options_.json || found.empty()) return exit_done;
        print(process_table(found, describe_terminal(STDOUT_FILENO), read_clocks().wall));
        return exit_done;
    }

    int stop_all(JsonArray& results) {
        std::optional<client::ExitWatch> watch;
        if (!options_.no_wait) {
            auto begun = client::ExitWatch::begin(connection_);
            if (!begun) return complain("stop", begun.error());
            watch.emplace(*begun);
        }
        std::vector<Result<JsonObject>> rows;
        for (const auto& id : ids_) {
            rows.push_back(connection_.call_object("process.stop", {{"process_id", id}}));
        }
        const client::Deadline deadline{gone_within};
        int status = exit_done;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto& row = rows[i];
            const bool was_gone = row && wire::bool_at(*row, "already_exited");
            if (watch && row && client::is_being_stopped(*row)) {
                row = watch->wait(ids_[i], deadline);
            }
            if (!tell(ids_[i], row, was_gone, results)) status = exit_failed;
        }
        return status;
    }

    /// "" when it is as it was asked for.
    std::string why_not_stopped(const std::string& id, const JsonObject& row, bool was_gone) const {
        const bool runs = client::is_running(row);
        const auto pid = wire::int_at(row, "pid");
        const auto left = wire::text_at(row, "stop_failed");
        if (client::is_being_stopped(row)) {
            if (options_.no_wait) return {};
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
        if (!options_.json) {
            const auto* how = was_gone                         ? "had exited already"
                              : client::is_being_stopped(*row) ? "is being stopped"
                                                               : "stopped";
            const auto words = client::exit_words(*row);
            print_line(fmt::format("{} {}{}{}", id, how, words.empty() ? "" : ": ", words));
        }
        return true;
    }

    client::Connection& connection_;
    std::vector<std::string> ids_;
    const StopOptions& options_;
};

}  // namespace

int stop_processes(client::Connection& connection, std::vector<std::string> ids,
                   const StopOptions& options, JsonArray& results) {
    return ProcessStops(connection, std::move(ids), options).run(results);
}

}  // namespace knell::cli
