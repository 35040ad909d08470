#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Leaves the session of a key, or one session, as it is: the next message ends it and begins a new
conversation, whatever background work it has. What is the id of a session is taken for one,
anything else for a key.

Examples:
  knell suspend agent:main:telegram:dm:42
  knell suspend build-42 --why "the topic has changed"

Exit status: 0 done, 1 there is no such session, or no daemon, 2 wrong usage.)";

class SuspendSession final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("KEY|ID", name_, "The key of a conversation, or a session's id")->required();
        app.add_option("--why", why_, "Why, free text")->option_text("TEXT");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("suspend", connection.error());
        auto named = find_named(*connection, name_);
        if (!named) return complain("suspend", named.error());
        auto params = std::move(named->params);
        params["why"] = why_;
        const auto result = connection->call_object("session.suspend", params);
        if (!result) return complain("suspend", result.error());
        if (json_) {
            print_json(*result);
        } else {
            print_line(fmt::format("{} {}", wire::text_at(*result, "session_id"),
                                   wire::bool_at(*result, "changed")
                                       ? "is suspended: its next message begins a new conversation"
                                       : "is as it was: its next message begins a new conversation "
                                         "anyway"));
        }
        return exit_done;
    }

  private:
    std::string name_;
    std::string why_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_suspend() {
    return std::make_unique<SuspendSession>();
}

}  // namespace knell::cli
