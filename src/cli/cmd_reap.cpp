#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/sweep_report.hpp"
#include "client/connect.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
The daemon watches owners all the time; this looks at each of them once more, now, and ends the
sessions whose owner is proven dead. What cannot be checked is never ended, and no process is
stopped. On a terminal it shows first what it would end, and asks.

Examples:
  knell reap --dry-run
  knell reap --yes --json | jq -r '.ended[].session_id'

Exit status: 0 done, also when there was nothing to end, 1 failed, 2 wrong usage.)";

class Reap final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("--dry-run", dry_run_, "Only show what would be ended and what would not");
        app.add_flag("--yes", yes_, "Do not ask");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("reap", connection.error());
        if (!dry_run_ && !yes_ && is_terminal(STDIN_FILENO)) {
            const auto preview = sweep(*connection, /*dry_run=*/true);
            if (!preview) return complain("reap", preview.error());
            if (wire::int_at(*preview, "ended_count") > 0) {
                auto text = sweep_ends(*preview, describe_terminal(STDERR_FILENO));
                text.pop_back();  // note ends the last line itself
                note(text);
                if (!confirm("End what is listed above?")) {
                    return complain("reap", "nothing was ended");
                }
            }
        }
        const auto result = sweep(*connection, dry_run_);
        if (!result) return complain("reap", result.error());
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        print(sweep_ends(*result, context.output));
        const auto left = sweep_left_alone(*result, context.output);
        if (!left.empty()) print(fmt::format("\n{}", left));
        return exit_done;
    }

  private:
    /// All pages of a dry run.  Of what was ended only the first: a second sweep would not find it
    /// any more.
    static Result<JsonObject> sweep(client::Connection& connection, bool dry_run) {
        JsonObject params{{"dry_run", dry_run}};
        auto whole = connection.call_object("node.sweep", params);
        while (dry_run && whole && whole->contains("next")) {
            params["after"] = (*whole)["next"];
            whole->erase("next");
            auto page = connection.call_object("node.sweep", params);
            if (!page) return page;
            for (const auto* name : {"ended", "left_alone"}) {
                const auto* more = wire::array_at(*page, name);
                auto* list = whole->if_contains(name);
                if (more == nullptr || list == nullptr || !list->is_array()) continue;
                list->get_array().insert(list->get_array().end(), more->begin(), more->end());
            }
            if (const auto* next = page->if_contains("next")) (*whole)["next"] = *next;
        }
        return whole;
    }

    bool dry_run_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reap() {
    return std::make_unique<Reap>();
}

}  // namespace knell::cli
