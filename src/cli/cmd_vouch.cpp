#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/relative_time.hpp"
#include "client/connect.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Says that a background process is wanted until then, although it may seem to do nothing: it counts
as work and keeps its session as a turn does. UNTIL is how long from now (30m, 2h, 3d) or a time
(RFC 3339), at most 7 days ahead; off takes it back.

Examples:
  knell vouch p-0123456789abc 2h
  knell vouch p-0123456789abc 2026-11-20T18:00:00Z
  knell vouch p-0123456789abc off

Exit status: 0 done, 1 the process has exited or does not exist, or no daemon, 2 wrong usage.)";

class Vouch final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("PROCESS", process_, "The process's id, as `knell ps` shows it")->required();
        app.add_option("UNTIL", until_, "A duration, a time, or off")->required();
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("vouch", connection.error());
        const auto result =
            connection->call_object("process.vouch", {{"process_id", process_}, {"until", until_}});
        if (!result) {
            complain("vouch", result.error());
            return result.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        if (json_) {
            print_json(*result);
        } else if (const auto until = wire::text_at(*result, "vouched_until"); until.empty()) {
            print_line(fmt::format("{} is no longer vouched for", process_));
        } else {
            print_line(fmt::format("{} counts as work until {} ({})", process_, until,
                                   relative_time(until, read_clocks().wall)));
        }
        return exit_done;
    }

  private:
    std::string process_;
    std::string until_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_vouch() {
    return std::make_unique<Vouch>();
}

}  // namespace knell::cli
