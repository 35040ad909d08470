#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

#include "cli/command.hpp"
#include "cli/config_report.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "daemon/daemon.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Reads config.yaml and every hooks/*/HOOK.yaml as the daemon would, and names the file, line and
column of whatever is wrong. Nothing is changed or run, and no daemon is needed.

Examples:
  knell config check
  knell config check --json | jq -r '.problems[].message'

Exit status: 0 all is well, 1 something is wrong, 2 wrong usage.)";

class CheckConfig final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ACTION", action_, "What to do: check")
            ->check(CLI::IsMember({"check"}))
            ->required();
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        const auto checked = check_config(context.paths, Environment::callers);
        if (json_) {
            print_json(checked);
        } else {
            print(config_report(checked));
        }
        return wire::bool_at(checked, "ok") ? exit_done : exit_failed;
    }

  private:
    std::string action_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
    return std::make_unique<CheckConfig>();
}

}  // namespace knell::cli
