#include <array>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/claude_surroundings.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/shell_argument.hpp"
#include "client/claude_settings.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Is run by an agent at its hooks: reads what happened from standard input, one JSON object, and tells the
daemon. AGENT is claude-code. What starts and ends is put on record, and every call of a tool is reported; when
the agent seems to be stuck, the words for it are printed as the hook's output. With guard.breaker: open, calls
are refused while the breaker is open. No daemon is started: without one, starts and ends wait in the spool.

Under `knell run` everything is told of its session; otherwise of one that is called as Claude Code
calls it, and whose owner is the agent's process.

Examples:
  knell hook claude-code --print-settings      what to put into ~/.claude/settings.json

Exit status: 0, whatever happens: any other would be a word to the agent. 1 there is no such AGENT.)";

constexpr std::string_view claude_code = "claude-code";

std::string own_path() {
    std::array<char, 4096> path{};
    const auto size = ::readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0 || static_cast<std::size_t>(size) == path.size()) return "knell";
    return {path.data(), static_cast<std::size_t>(size)};
}

class Hook final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("AGENT", agent_, "Whose hook it is: claude-code")->required();
        app.add_flag("--print-settings", print_settings_,
                     "Print what to put into the agent's settings");
        app.footer(footer);
    }

    int run(const Context& context) override {
        // Not as wrong usage: to Claude Code a status of 2 is a refusal, here of every tool.
        if (agent_ != claude_code) {
            return complain("hook", fmt::format("there is no agent \"{}\" that it knows; use {}",
                                                agent_, claude_code));
        }
        if (!print_settings_) return run_claude_hook(context.paths);
        print_json(client::claude_settings(
            fmt::format("{} hook {}", shell_argument(own_path()), claude_code)));
        return exit_done;
    }

  private:
    std::string agent_;
    bool print_settings_ = false;
};

}  // namespace

std::unique_ptr<Command> make_hook() {
    return std::make_unique<Hook>();
}

}  // namespace knell::cli
