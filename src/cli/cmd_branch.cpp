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
Opens a child of a session with all messages of it, and the same owner. The session itself ends as
branched, and its key goes to the child; with --keep-open it goes on too, and keeps its key. What is the id of a
session is taken for one, anything else for a key.

Examples:
  knell branch agent:main:telegram:dm:42
  knell branch build-42 --keep-open --title "the other way"

Exit status: 0 done, 1 there is no such open session, or no daemon, 2 wrong usage.)";

class BranchSession final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("KEY|ID", name_, "The key of a conversation, or a session's id")->required();
        app.add_flag("--keep-open", keep_open_, "Let the session go on too");
        app.add_option("--title", title_, "Title of the child (default: the session's)")
            ->option_text("T");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("branch", connection.error());
        const auto session = find_session(*connection, name_);
        if (!session) return complain("branch", session.error());
        const auto id = wire::text_at(*session, "id");
        const auto result = connection->call_object(
            "session.branch", {{"session_id", id},
                               {"generation", wire::int_at(*session, "generation")},
                               {"keep_open", keep_open_},
                               {"title", title_}});
        if (!result) return complain("branch", result.error());
        if (json_) {
            print_json(*result);
        } else {
            print_line(fmt::format(
                "{} branched off {}, which {}", wire::text_at(*result, "session_id"), id,
                wire::bool_at(*result, "parent_ended") ? "has ended" : "goes on too"));
        }
        return exit_done;
    }

  private:
    std::string name_;
    std::string title_;
    bool keep_open_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_branch() {
    return std::make_unique<BranchSession>();
}

}  // namespace knell::cli
