#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/stats_report.hpp"
#include "client/connect.hpp"
#include "core/read_limits.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Shows what happened on the last days, today included, in UTC: sessions that were opened, ends by
reason, sources, and tokens of messages. What was deleted since still counts.

Leaked are those of the sessions opened then that have no end that anybody saw: their owner cannot be
checked now, or they were imported as such.

Examples:
  knell stats
  knell stats --days 90
  knell stats --json | jq '.total.leak_rate'

Exit status: 0 done, 1 failed, 2 wrong usage.)";

class Stats final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--days", days_, "Of so many days (default: 14)")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{limits::stats_days_max}));
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("stats", connection.error());
        const auto result = connection->call_object("node.stats", {{"days", days_}});
        if (!result) return complain("stats", result.error());
        if (json_) {
            print_json(*result);
        } else {
            print(stats_report(*result, context.output));
        }
        return exit_done;
    }

  private:
    std::int64_t days_ = limits::stats_days_default;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stats() {
    return std::make_unique<Stats>();
}

}  // namespace knell::cli
