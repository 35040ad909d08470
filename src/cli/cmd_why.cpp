#include <CLI/App.hpp>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/why_report.hpp"
#include "client/connect.hpp"
#include "platform/environment.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Says whether a session is alive and how that is known, every step that led there with its cause,
what it left running, by which policy it is reset and what holds that back, and what would end it
and when. "unknown" is an answer: nothing is ended on it.

Examples:
  knell why build-42
  knell why build-42 --json | jq -r '.transitions[].cause'

Exit status: 0 done, 1 there is no such session, or no daemon, 2 wrong usage.)";

class Why final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ID", id_, "The session: its id, a beginning of it, @last or @N")
            ->required();
        app.add_flag("--utc", utc_, "Times in UTC instead of the time zone of this machine");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("why", connection.error());
        const auto id = find_id(*connection, id_);
        if (!id) return complain("why", id.error());
        const auto why = connection->call_object("session.why", {{"session_id", *id}});
        if (!why) return complain("why", why.error());
        if (json_) {
            print_json(*why);
        } else {
            print(why_report(*why, context.output, shown_time(utc_), environment_variable("HOME")));
        }
        return exit_done;
    }

  private:
    std::string id_;
    bool utc_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_why() {
    return std::make_unique<Why>();
}

}  // namespace knell::cli
