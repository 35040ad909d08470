#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/paths.hpp"
#include "platform/terminal.hpp"

namespace CLI {
class App;
}

namespace knell::cli {

/// What every verb may need of the world; constant while it runs.
struct Context {
    Paths paths;
    Terminal output;                   // standard output
    std::vector<std::string> command;  // `run` and `start`: what stands after the options
};

/// One verb.  Lives until the process exits; options are written into its members by the parser.
class Command {
  public:
    Command() = default;
    virtual ~Command() = default;
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    virtual void declare(CLI::App& app) = 0;
    /// The exit status.
    virtual int run(const Context& context) = 0;
};

std::unique_ptr<Command> make_up();
std::unique_ptr<Command> make_down();
std::unique_ptr<Command> make_status();
std::unique_ptr<Command> make_stats();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_ls();
std::unique_ptr<Command> make_show();
std::unique_ptr<Command> make_why();
std::unique_ptr<Command> make_search();
std::unique_ptr<Command> make_end();
std::unique_ptr<Command> make_reset();
std::unique_ptr<Command> make_suspend();
std::unique_ptr<Command> make_branch();
std::unique_ptr<Command> make_compress();
std::unique_ptr<Command> make_title();
std::unique_ptr<Command> make_pin();
std::unique_ptr<Command> make_unpin();
std::unique_ptr<Command> make_events();
std::unique_ptr<Command> make_hooks();
std::unique_ptr<Command> make_reap();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_reload();
std::unique_ptr<Command> make_config();
std::unique_ptr<Command> make_token();
std::unique_ptr<Command> make_rpc();
std::unique_ptr<Command> make_ps();
std::unique_ptr<Command> make_logs();
std::unique_ptr<Command> make_start();
std::unique_ptr<Command> make_stop();
std::unique_ptr<Command> make_vouch();
std::unique_ptr<Command> make_mcp();
std::unique_ptr<Command> make_hook();

}  // namespace knell::cli
