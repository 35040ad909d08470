#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/hermes_report.hpp"
#include "cli/output.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Reads state.db of Hermes Agent (schema 11 and later), sessions.json, processes.json, hooks and
config.yaml, and changes nothing. While something has the database open, a private copy is read;
nothing is created, locked or touched there.

A session without an end is alive when a process that is named for it runs, dead when that has
ended, when the gateway has finalized it or when nobody has state.db open, and else unknown: never
dead for its age. The leak rate is the share of sessions without an end that are not alive.

Examples:
  knell doctor --hermes ~/.hermes
  knell doctor --hermes ~/.hermes --since 2026-05-01
  knell doctor --hermes ~/.hermes --json | jq .leak_rate

Exit status: 0 done, whatever was found, 1 failed, 2 wrong usage.)";

/// A day, or a moment.
std::optional<WallTime> parse_since(const std::string& text) {
    if (text.size() == 10) return parse_rfc3339(text + "T00:00:00Z");
    return parse_any_rfc3339(text);
}

class Doctor final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--hermes", hermes_, "The directory of Hermes Agent, as a rule ~/.hermes")
            ->option_text("DIR")
            ->required();
        app.add_option("--since", since_,
                       "Also the leak rate by day, of sessions that started then or later: a date "
                       "(UTC) or a time")
            ->option_text("DATE");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        std::optional<WallTime> since;
        if (!since_.empty()) {
            since = parse_since(since_);
            if (!since) {
                note(
                    fmt::format("knell doctor: --since: \"{}\" is no date like 2026-05-18 and no "
                                "time like 2026-05-18T06:00:00Z",
                                since_));
                return exit_usage;
            }
        }
        const auto now = read_clocks().wall;
        const auto found = hermes::examine(hermes_, hermes::view_processes(), now, since);
        if (!found) return complain("doctor", found.error());
        if (json_) {
            print_json(hermes_json(*found));
        } else {
            print(hermes_report(*found, now, context.output));
        }
        return exit_done;
    }

  private:
    std::string hermes_;
    std::string since_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
    return std::make_unique<Doctor>();
}

}  // namespace knell::cli
