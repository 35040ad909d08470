#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_rows.hpp"
#include "client/connect.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
AGE is when a session started, ACTIVE when it was last heard of or, once it ended, when that was.
A status is running, attached, background, idle, detached, stalled, unknown or ended.
Filters come before the limit. Sessions of sub-agents and cron, and empty ones that ended, are
folded away: --all lists them. --live leaves out what ended, and hosted sessions that were idle and
without a client for half a minute.

Examples:
  knell ls --open
  knell ls --live
  knell ls --source cli --ended --limit 10
  knell ls --json | jq -r '.sessions[].id'

Exit status: 0 done, 1 failed, 2 wrong usage.)";

class Ls final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* source =
            app.add_option("--source", source_, "Only sessions of this source")->option_text("S");
        auto* key =
            app.add_option("--key", key_, "Only sessions with this routing key")->option_text("K");
        auto* status = app.add_option("--status", status_, "Only sessions with this status")
                           ->option_text("ST")
                           ->check(CLI::IsMember(
                               std::vector<std::string>(status_names.begin(), status_names.end())));
        auto* ended = app.add_flag("--ended", ended_, "Only sessions that ended");
        auto* open =
            app.add_flag("--open", open_, "Only sessions that did not end")->excludes(ended);
        auto* all = app.add_flag("--all", all_, "Also what is folded away");
        auto* live = app.add_flag("--live", live_, "Only sessions that are live; no other filter");
        for (auto* other : {source, key, status, ended, open, all}) live->excludes(other);
        app.add_option("--limit", limit_, "At most so many sessions (default: 50)")
            ->option_text("N")
            ->check(CLI::Range(1, static_cast<int>(limits::list_page_max)));
        app.add_option("--cursor", cursor_, "Go on where an earlier page ended")->option_text("C");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("ls", connection.error());
        const auto result = list(*connection);
        if (!result) return complain("ls", result.error());
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        const auto* sessions = wire::array_at(*result, "sessions");
        if (sessions == nullptr || sessions->empty()) {
            note(why_empty());
            return exit_done;
        }
        print(session_table(*sessions, read_clocks().wall).render(context.output));
        if (const auto next = wire::text_at(*result, "next"); !next.empty()) {
            note(fmt::format("there are more: repeat the command with --cursor {}", next));
        }
        return exit_done;
    }

  private:
    bool filtered() const {
        return !source_.empty() || !key_.empty() || !status_.empty() || ended_ || open_ || live_ ||
               !cursor_.empty();
    }

    const char* why_empty() const {
        if (filtered()) return "no sessions match. Without filters: knell ls --all";
        if (all_) return "no sessions. Start one with: knell run -- COMMAND";
        return "no sessions to show. Those of sub-agents and cron, and empty ones, are folded "
               "away: "
               "knell ls --all\nStart one with: knell run -- COMMAND";
    }

    /// A page ends by bytes too: asks on until there are as many as were asked for.
    Result<JsonObject> list(client::Connection& connection) const {
        auto wanted = params();
        auto result = connection.call_object(method(), wanted);
        while (result && limit_ > 0) {
            auto* sessions = result->if_contains("sessions");
            const auto next = std::string(wire::text_at(*result, "next"));
            if (sessions == nullptr || !sessions->is_array() || next.empty()) break;
            const auto left = limit_ - static_cast<std::int64_t>(sessions->get_array().size());
            if (left <= 0) break;
            wanted["cursor"] = next;
            wanted["limit"] = left;
            auto more = connection.call_object(method(), wanted);
            if (!more) return more;
            auto& all = sessions->get_array();
            if (const auto* found = wire::array_at(*more, "sessions")) {
                all.insert(all.end(), found->begin(), found->end());
            }
            result->erase("next");
            if (const auto* further = more->if_contains("next")) (*result)["next"] = *further;
        }
        return result;
    }

    const char* method() const { return live_ ? "session.active_list" : "session.list"; }

    JsonObject params() const {
        JsonObject params;
        if (!source_.empty()) params["source"] = source_;
        if (!key_.empty()) params["key"] = key_;
        if (!status_.empty()) params["status"] = status_;
        if (ended_ || open_) params["ended"] = ended_;
        if (all_) params["all"] = true;
        if (limit_ > 0) params["limit"] = limit_;
        if (!cursor_.empty()) params["cursor"] = cursor_;
        return params;
    }

    std::string source_;
    std::string key_;
    std::string status_;
    bool ended_ = false;
    bool open_ = false;
    bool all_ = false;
    bool live_ = false;
    int limit_ = 0;
    std::string cursor_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ls() {
    return std::make_unique<Ls>();
}

}  // namespace knell::cli
