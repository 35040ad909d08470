#include "cli/stop_sessions.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "client/end_watch.hpp"
#include "platform/clock.hpp"
#include "platform/terminal.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

/// SIGTERM, five seconds, SIGKILL, five more, and time for a busy machine.
constexpr std::chrono::seconds stopped_within{20};
/// What a command left running is looked for, and its `knell run` has the first word.
constexpr std::chrono::seconds recorded_within{10};

bool has_ended(const JsonObject& session) {
    return text_at(session, "status") == "ended";
}

/// "process 4242 (claude)"; "" where no process keeps it.
std::string process_words(const JsonObject& stopped) {
    const auto* process = wire::object_at(stopped, "process");
    if (process == nullptr) return {};
    const auto command = text_at(*process, "command");
    const auto pid = wire::int_at(*process, "pid");
    return command.empty() ? fmt::format("process {}", pid)
                           : fmt::format("process {} ({})", pid, command);
}

class SessionStops {
  public:
    SessionStops(client::Connection& connection, const StopOptions& options, JsonArray& results)
        : connection_(connection), options_(options), results_(results) {}

    int run(const std::vector<std::string>& names) {
        if (!find(names)) return exit_failed;
        if (options_.dry_run) return preview();
        if (options_.asks && !open_.empty()) {
            note_table();
            if (!confirm("Stop the processes of what is listed above?")) {
                return complain("stop", "nothing was stopped");
            }
        }
        auto watch = client::EndWatch::begin(connection_);
        if (!watch) return complain("stop", watch.error());
        int status = exit_done;
        for (const auto& session : sessions_) {
            if (!stop(session, *watch)) status = exit_failed;
        }
        return status;
    }

  private:
    /// All of them, before anything is done to one.
    bool find(const std::vector<std::string>& names) {
        bool all_there = true;
        for (const auto& name : names) {
            auto session = find_session(connection_, name);
            if (!session) {
                complain("stop", session.error());
                all_there = false;
                continue;
            }
            if (!has_ended(*session)) open_.emplace_back(*session);
            sessions_.push_back(std::move(*session));
        }
        return all_there;
    }

    void note_table() const {
        auto text =
            session_table(open_, read_clocks().wall).render(describe_terminal(STDERR_FILENO));
        text.pop_back();  // note ends the last line itself
        note(text);
    }

    Result<JsonObject> call_stop(const JsonObject& session) {
        auto stopped = connection_.call("session.stop",
                                        {{"session_id", text_at(session, "id")},
                                         {"generation", wire::int_at(session, "generation")},
                                         {"detail", "knell stop"},
                                         {"dry_run", options_.dry_run}},
                                        client::Deadline{stopped_within});
        if (!stopped) return std::unexpected(std::move(stopped.error()));
        const auto* object = stopped->if_object();
        return object == nullptr ? JsonObject{} : *object;
    }

    int preview() {
        int status = exit_done;
        for (const auto& session : sessions_) {
            auto planned = call_stop(session);
            if (!planned) {
                status = complain("stop", planned.error());
                continue;
            }
            if (!options_.json) print_line(plan_words(session, *planned));
            results_.emplace_back(std::move(*planned));
        }
        return status;
    }

    static std::string plan_words(const JsonObject& session, const JsonObject& planned) {
        const auto id = text_at(session, "id");
        if (wire::bool_at(planned, "already_ended")) {
            return fmt::format("{} had ended already", id);
        }
        const auto process = process_words(planned);
        if (process.empty()) {
            return fmt::format("{} would be ended: no process keeps it, only its record", id);
        }
        return fmt::format("{} would be stopped: {} with SIGTERM, after 5 s SIGKILL", id, process);
    }

    /// False unless it has ended.
    bool stop(const JsonObject& session, client::EndWatch& watch) {
        const std::string id(text_at(session, "id"));
        auto stopped = call_stop(session);
        if (!stopped) return fail_with(id, stopped.error());
        if (wire::bool_at(*stopped, "already_ended")) {
            results_.emplace_back(*stopped);
            if (!options_.json) {
                print_line(fmt::format("{} had ended already: {}", id, end_text(session)));
            }
            return true;
        }
        if (options_.no_wait) return tell_stopped(id, *stopped);
        auto ended =
            watch.wait(id, wire::int_at(session, "generation"), client::Deadline{recorded_within});
        if (!ended) return fail_with(id, ended.error());
        (*stopped)["session"] = *ended;
        results_.emplace_back(*stopped);
        if (!has_ended(*ended)) {
            complain("stop", fmt::format("{} is gone, but the end of session {} is not on record "
                                         "yet; look again: knell show {}",
                                         process_words(*stopped), id, id));
            return false;
        }
        if (!options_.json) print_line(fmt::format("{} stopped: {}", id, end_text(*ended)));
        return true;
    }

    bool tell_stopped(const std::string& id, const JsonObject& stopped) {
        results_.emplace_back(stopped);
        if (!options_.json) print_line(fmt::format("{} is being ended", id));
        return true;
    }

    bool fail_with(const std::string& id, const Error& error) {
        complain("stop", error);
        results_.emplace_back(JsonObject{{"session_id", id}, {"error", wire::to_json(error)}});
        return false;
    }

    client::Connection& connection_;
    const StopOptions& options_;
    JsonArray& results_;
    std::vector<JsonObject> sessions_;  // all that were named
    JsonArray open_;                    // of these, what there is to stop
};

}  // namespace

int stop_sessions(client::Connection& connection, const std::vector<std::string>& names,
                  const StopOptions& options, JsonArray& results) {
    return SessionStops(connection, options, results).run(names);
}

}  // namespace knell::cli
