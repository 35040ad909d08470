#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/blocker_rows.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/leftover_rows.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "client/connect.hpp"
#include "client/process_pages.hpp"
#include "core/end.hpp"
#include "core/limits.hpp"
#include "core/route_rules.hpp"
#include "platform/clock.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

constexpr auto footer = R"(
Ends the conversation of a key, or of one session: the next message for it begins a new one. What
is the id of a session is taken for one, anything else for a key. While one of its background
processes works or is vouched for nothing is reset, and they are named; --force resets all the
same. What becomes of processes that run is for the reset policy to say (on_reset). One that has
ended already is not opened again by its next message. On a terminal it asks first.

Examples:
  knell reset agent:main:telegram:dm:42
  knell reset agent:main:telegram:dm:42 --dry-run
  knell reset build-42 --force --yes

Exit status: 0 done, 1 blocked, not found, or no daemon, 2 wrong usage.)";

bool is_open(const std::optional<JsonObject>& session) {
    return session && text_at(*session, "status") != "ended";
}

/// It has ended, and the next message for its key would open it again.
bool would_go_on(const JsonObject& session) {
    const auto reason = parse_reason(text_at(session, "reason"));
    return reason && goes_on(*reason);
}

/// For standard error, which ends the last line itself.
void note_table(const Table& table) {
    auto text = table.render(describe_terminal(STDERR_FILENO));
    text.pop_back();
    note(text);
}

class ResetSession final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("KEY|ID", name_, "The key of a conversation, or a session's id")->required();
        app.add_flag("--force", force_, "Reset it, whatever background work it has");
        app.add_flag("--dry-run", dry_run_,
                     "Only show what would be ended, and what is in the way");
        app.add_flag("--yes", yes_, "Do not ask");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("reset", connection.error());
        auto named = find_named(*connection, name_);
        if (!named) return complain("reset", named.error());
        if (dry_run_) return preview(*connection, *named, context);
        if (!yes_ && is_terminal(STDIN_FILENO) && is_open(named->session)) {
            if (const auto status = ask(*connection, *named->session)) return *status;
        }
        auto params = std::move(named->params);
        params["force"] = force_;
        const auto answer = connection->call_raw("session.reset", params,
                                                 client::Deadline{client::call_timeout_default});
        if (!answer) return complain("reset", answer.error());
        if (const auto* error = wire::object_at(*answer, "error")) return refused(*error);
        const auto* result = wire::object_at(*answer, "result");
        if (result == nullptr) return complain("reset", "the daemon gave no result");
        tell(*result);
        return exit_done;
    }

  private:
    Result<JsonArray> find_blockers(client::Connection& connection,
                                    const JsonObject& session) const {
        const auto listed = client::list_processes(
            connection, {{"session_id", text_at(session, "id")}},
            {.limit = limits::processes_max, .task_id = {}, .is_running = true});
        if (!listed) return std::unexpected(listed.error());
        return blockers_among(listed->processes);
    }

    /// Whom nothing is asked that would be refused afterwards; none: go on.
    std::optional<int> ask(client::Connection& connection, const JsonObject& session) const {
        auto blockers = find_blockers(connection, session);
        if (!blockers) return complain("reset", blockers.error());
        if (!blockers->empty() && !force_) {
            auto error =
                wire::to_json(Error{ErrorCode::blocked, "background work is in the way", {}, {}});
            error["data"].as_object()["blockers"] = std::move(*blockers);
            return refused(error);
        }
        const auto now = read_clocks().wall;
        note_table(session_table({session}, now));
        if (!blockers->empty()) {
            note("It is reset over these:");
            note_table(blocker_table(*blockers, now));
        }
        if (confirm("End this conversation?")) return std::nullopt;
        return complain("reset", "nothing was ended");
    }

    int refused(const JsonObject& error) const {
        if (json_) print_json(JsonObject{{"error", error}});
        const auto* data = wire::object_at(error, "data");
        const auto* blockers = data == nullptr ? nullptr : wire::array_at(*data, "blockers");
        if (blockers == nullptr) return complain("reset", wire::error_from_json(error));
        complain("reset", fmt::format("{} is not reset: background work is in the way", name_));
        note_table(blocker_table(*blockers, read_clocks().wall));
        note(blocker_advice(*blockers, name_));
        return exit_failed;
    }

    int preview(client::Connection& connection, const NamedSession& named,
                const Context& context) const {
        if (!named.session) return complain("reset", no_session_named(name_));
        const auto id = std::string(text_at(*named.session, "id"));
        // What works holds the reset of one that has ended, too, where a message would go on with
        // it.
        JsonArray blockers;
        if (is_open(named.session) || would_go_on(*named.session)) {
            auto found = find_blockers(connection, *named.session);
            if (!found) return complain("reset", found.error());
            blockers = std::move(*found);
        }
        const bool is_blocked = !blockers.empty() && !force_;
        const auto now = read_clocks().wall;
        if (json_) {
            JsonArray ends;
            if (is_open(named.session) && !is_blocked) ends.push_back(*named.session);
            print_json(
                JsonObject{{"would_end", std::move(ends)}, {"blockers", std::move(blockers)}});
        } else if (!is_open(named.session) && blockers.empty()) {
            note(fmt::format("{} has ended already", id));
        } else {
            print(session_table({*named.session}, now).render(context.output));
            if (!blockers.empty()) {
                print_line(is_blocked ? "\nIt would not be reset: these are in the way"
                                      : "\nIt would be reset over these");
                print(blocker_table(blockers, now).render(context.output));
            }
        }
        return is_blocked ? exit_failed : exit_done;
    }

    void tell(const JsonObject& result) const {
        if (json_) return print_json(result);
        const auto id = text_at(result, "session_id");
        const bool was_over = wire::bool_at(result, "already_ended");
        const auto* then =
            wire::bool_at(result, "suspended")
                ? "the next message would have gone on with it, and now begins a new "
                  "conversation"
                : "the next message begins a new conversation";
        print_line(fmt::format("{} {} as {} at {}; {}", id,
                               was_over ? "had ended already" : "ended", text_at(result, "reason"),
                               text_at(result, "ended_at"), then));
        const auto* leftovers = wire::array_at(result, "leftovers");
        if (leftovers == nullptr || was_over) return;
        for (const auto& line : leftover_lines(*leftovers, id)) print_line(line);
    }

    std::string name_;
    bool force_ = false;
    bool dry_run_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reset() {
    return std::make_unique<ResetSession>();
}

}  // namespace knell::cli
