#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "client/connect.hpp"
#include "platform/clock.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Ends the record of a session; no process is stopped. To end one that ended already is no error and
changes nothing. On a terminal it asks first.

Examples:
  knell end 0190b2f0-6a1e-7abc-8def-0123456789ab
  knell end build-41 build-42 --reason manual_reset --detail "new sprint" --yes
  knell ls --json --open | jq -r '.sessions[].id' | xargs knell end --dry-run

Exit status: 0 all are ended, 1 some are not, 2 wrong usage.)";

/// "" when a person may give this reason; else what is wrong with it, as CLI11 wants it.
std::string why_not_a_reason(const std::string& text) {
    const auto reason = parse_reason(text);
    if (reason && row_of(*reason).said_by == SaidBy::anyone) return {};
    std::string known;
    for (const auto& row : reason_table) {
        if (row.said_by == SaidBy::anyone) known += fmt::format(" {}", row.name);
    }
    return fmt::format("\"{}\" is not one of:{}", text, known);
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

    Result<JsonObject> close(client::Connection& connection, const std::string& name) const {
        const auto id = find_id(connection, name);
        if (!id) return std::unexpected(id.error());
        return connection.call_object(
            "session.close", {{"session_id", *id}, {"reason", reason_}, {"detail", detail_}});
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
            auto result = close(connection, id);
            if (!result) {
                status = complain("end", result.error());
                results.emplace_back(
                    JsonObject{{"session_id", id}, {"error", wire::to_json(result.error())}});
                continue;
            }
            if (!json_) print_line(describe(wire::text_at(*result, "session_id"), *result));
            results.emplace_back(std::move(*result));
        }
        if (json_) print_json(JsonObject{{"results", std::move(results)}});
        return status;
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
