#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/config_report.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "platform/path_names.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
A daemon notices by itself when config.yaml or a hook is written; this waits for it, and says what
has changed since it was last asked, or since it was started. A config.yaml with an error in it changes nothing: what was read before holds.

Examples:
  knell reload
  knell reload --json | jq -r '.changes[]'

Exit status: 0 done, also when nothing has changed; 1 something is wrong in config.yaml or a hook,
or no daemon answers; 2 wrong usage.)";

class Reload final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("reload", connection.error());
        const auto reloaded = connection->call_object("node.reload", {});
        if (!reloaded) return complain("reload", reloaded.error());
        if (json_) {
            print_json(*reloaded);
        } else {
            print(PathNames::from_environment().in(reload_report(*reloaded)));
        }
        return has_errors(*reloaded) ? exit_failed : exit_done;
    }

  private:
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reload() {
    return std::make_unique<Reload>();
}

}  // namespace knell::cli
