#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "cli/shell_argument.hpp"
#include "cli/usage_words.hpp"
#include "client/connect.hpp"
#include "platform/clock.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Ends the record of a session; no process is stopped, and it says which one goes on. To stop that
as well: knell stop. To end what has ended is no error and changes nothing. On a terminal it asks
first.

Examples:
  knell end 0190b2f0-6a1e-7abc-8def-0123456789ab
  knell end build-41 build-42 --reason manual_reset --detail "new sprint" --yes
  knell ls --json --open | jq -r '.sessions[].id' | xargs knell end --dry-run

Exit status: 0 all are ended, 1 some are not, 2 wrong usage.)";

/// "" when a person may give this reason; else what is wrong with it, as CLI11 wants it.
std::string why_not_a_reason(const std::string& text) {
    const auto reason = parse_reason(text);
    if (reason && row_of(*reason).said_by == SaidBy::anyone) return {};
    if (reason) return fmt::format("{} can only be found by the daemon itself", text);
    std::vector<std::string> known;
    for (const auto& row : reason_table) {
        if (row.said_by == SaidBy::anyone) known.emplace_back(row.name);
    }
    return none_of(text, known);
}

class EndSessions final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ID", ids_, "The sessions: ids, beginnings of them, @last or @N")
            ->required();
        app.add_option("--reason", reason_, "Reason of the end (default: completed)")
            ->option_text("R")
            ->check(CLI::Validator(why_not_a_reason, ""));
        app.add_option("--detail", detail_, "Detail of the reason, free text")->option_text("D");
        app.add_flag("--dry-run", dry_run_, "Only show what would be ended");
        app.add_flag("--yes", yes_, "Do not ask");
        app.add_flag("--json", json_, "Print the results as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("end", connection.error());
        if (dry_run_) return preview(*connection, context);
        if (!yes_ && is_terminal(STDIN_FILENO)) {
            const auto found = find(*connection);
            if (found.status != exit_done) return found.status;
            if (!found.open.empty()) {
                note_table(found.open);
                for (const auto& session : found.open) {
                    if (const auto process = process_of(session.get_object()); !process.empty()) {
                        note(
                            fmt::format("{} goes on; to stop it too: knell stop {}", process,
                                        shell_argument(wire::text_at(session.get_object(), "id"))));
                    }
                }
                if (!confirm("End what is listed above?")) {
                    return complain("end", "nothing was ended");
                }
            }
        }
        return end_all(*connection);
    }

  private:
    struct Found {
        JsonArray open;                  // what there is to end
        std::vector<std::string> ended;  // what has ended already
        int status = exit_done;
    };

    /// Looks at the sessions first; exit_failed when one of them does not exist.
    Found find(client::Connection& connection) const {
        Found found;
        for (const auto& id : ids_) {
            auto session = show(connection, id);
            if (!session) {
                found.status = complain("end", session.error());
            } else if (wire::text_at(*session, "status") == "ended") {
                found.ended.emplace_back(wire::text_at(*session, "id"));
            } else {
                found.open.emplace_back(std::move(*session));
            }
        }
        return found;
    }

    static Result<JsonObject> show(client::Connection& connection, const std::string& name) {
        const auto id = find_id(connection, name);
        if (!id) return std::unexpected(id.error());
        return connection.call_object("session.show", {{"session_id", *id}});
    }

    int preview(client::Connection& connection, const Context& context) const {
        auto found = find(connection);
        for (const auto& id : found.ended) note(fmt::format("{} has ended already", id));
        if (json_) {
            print_json(JsonObject{{"would_end", std::move(found.open)}});
        } else if (!found.open.empty()) {
            print(session_table(found.open, read_clocks().wall).render(context.output));
        }
        return found.status;
    }

    static void note_table(const JsonArray& sessions) {
        auto text =
            session_table(sessions, read_clocks().wall).render(describe_terminal(STDERR_FILENO));
        text.pop_back();  // note ends the last line itself
        note(text);
    }

    int end_all(client::Connection& connection) const {
        JsonArray results;
        int status = exit_done;
        for (const auto& id : ids_) {
            const auto session = show(connection, id);
            auto result = session ? close(connection, *session)
                                  : Result<JsonObject>(std::unexpected(session.error()));
            if (!result) {
                status = complain("end", result.error());
                results.emplace_back(
                    JsonObject{{"session_id", id}, {"error", wire::to_json(result.error())}});
                continue;
            }
            if (!json_) print_line(describe(wire::text_at(*session, "id"), *result));
            warn_of_process(*session, *result);
            results.emplace_back(std::move(*result));
        }
        if (json_) print_json(JsonObject{{"results", std::move(results)}});
        return status;
    }

    Result<JsonObject> close(client::Connection& connection, const JsonObject& session) const {
        return connection.call_object("session.close",
                                      {{"session_id", wire::text_at(session, "id")},
                                       {"reason", reason_},
                                       {"detail", detail_}});
    }

    /// That keeps an open session: "process 4242 (claude)"; "" where none does.
    static std::string process_of(const JsonObject& session) {
        const auto* owner = wire::object_at(session, "owner");
        const bool has_process = owner != nullptr && wire::text_at(*owner, "kind") == "process" &&
                                 wire::text_at(session, "status") != "ended" &&
                                 wire::text_at(session, "parked_since").empty();
        if (!has_process) return {};
        const auto command = wire::text_at(*owner, "command");
        return fmt::format("process {}{}", wire::int_at(*owner, "pid"),
                           command.empty() ? "" : fmt::format(" ({})", command));
    }

    /// Had it gone, the daemon would have said that the session had ended before.
    static void warn_of_process(const JsonObject& session, const JsonObject& result) {
        const auto process = process_of(session);
        if (process.empty() || wire::bool_at(result, "already_ended")) return;
        complain("end",
                 fmt::format("{} of session {} still runs, and is on record no more; look at "
                             "it with: ps -fp {}",
                             process, wire::text_at(session, "id"),
                             wire::int_at(session.at("owner").get_object(), "pid")));
    }

    static std::string describe(std::string_view id, const JsonObject& result) {
        const bool before = wire::bool_at(result, "already_ended");
        return fmt::format("{} {} as {} at {}", id, before ? "had ended already" : "ended",
                           wire::text_at(result, "reason"), wire::text_at(result, "ended_at"));
    }

    std::vector<std::string> ids_;
    std::string reason_ = "completed";
    std::string detail_ = "knell end";
    bool dry_run_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_end() {
    return std::make_unique<EndSessions>();
}

}  // namespace knell::cli
