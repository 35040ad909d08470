#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/process_rows.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"
#include "client/process_pages.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Lists background processes: what sessions started, registered or left running, the newest first.
ACTIVITY is what a process and everything below it do: working, listening (a server that nobody
uses), waiting, or exited. EVIDENCE is how that is known. One whose session has ended is marked so.
Those that exited are listed for half an hour; --all lists them all.

Examples:
  knell ps
  knell ps --tree
  knell ps --session build-42
  knell ps --json | jq -r '.processes[] | select(.activity == "listening") | .process_id'

Exit status: 0 done, 1 failed, 2 wrong usage.)";

class Ps final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* session = app.add_option("--session", session_, "Only processes of this session")
                            ->option_text("ID");
        app.add_option("--key", key_, "Only processes of sessions with this routing key")
            ->option_text("K")
            ->excludes(session);
        app.add_option("--task", task_, "Only processes of this task")->option_text("T");
        app.add_flag("--all", all_, "Also those that exited more than 30 minutes ago");
        auto* tree = app.add_flag("--tree", tree_, "Group them by session");
        app.add_option("--limit", limit_, "At most so many processes (default: 1000)")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{limits::processes_max}));
        app.add_flag("--json", json_, "Print the result as JSON")->excludes(tree);
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("ps", connection.error());
        if (!session_.empty()) {
            auto id = find_id_or_keep(*connection, session_);
            if (!id) return complain("ps", id.error());
            session_ = std::move(*id);
        }
        auto listed = client::list_processes(*connection, params(), wanted());
        if (!listed) return complain("ps", listed.error());
        if (json_) {
            print_json(
                JsonObject{{"processes", std::move(listed->processes)}, {"more", listed->is_more}});
            return exit_done;
        }
        if (listed->processes.empty()) {
            note(why_empty());
            return exit_done;
        }
        const auto now = read_clocks().wall;
        print(tree_ ? process_tree(listed->processes, context.output, now)
                    : process_table(listed->processes, context.output, now));
        if (listed->is_more) note("there are more: repeat the command with a greater --limit");
        return exit_done;
    }

  private:
    const char* why_empty() const {
        const bool filtered = !session_.empty() || !key_.empty() || !task_.empty();
        if (filtered) return "no background processes match. Without filters: knell ps --all";
        return all_ ? "no background processes are on record"
                    : "no background processes. Those that exited earlier: knell ps --all";
    }

    client::Wanted wanted() const {
        return {.limit = static_cast<std::size_t>(limit_), .task_id = task_};
    }

    JsonObject params() const {
        JsonObject params;
        if (!session_.empty()) params["session_id"] = session_;
        if (!key_.empty()) params["key"] = key_;
        if (all_) params["all"] = true;
        return params;
    }

    std::string session_;
    std::string key_;
    std::string task_;
    bool all_ = false;
    bool tree_ = false;
    std::int64_t limit_ = 1000;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ps() {
    return std::make_unique<Ps>();
}

}  // namespace knell::cli
