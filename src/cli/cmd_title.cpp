#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/text_width.hpp"
#include "client/connect.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Gives a session, open or ended, the title that lists show. An empty one takes the title away;
without one the present title is printed.

Examples:
  knell title build-42 "Refactor the billing importers"
  knell title build-42 ""

Exit status: 0 done, 1 there is no such session, or no daemon, 2 wrong usage.)";

class Title final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ID", id_, "The session: its id, a beginning of it, @last or @N")
            ->required();
        app.add_option("TITLE", title_, "Its new title");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("title", connection.error());
        const auto id = find_id(*connection, id_);
        if (!id) return complain("title", id.error());
        JsonObject params{{"session_id", *id}};
        if (title_) params["title"] = *title_;
        const auto result =
            connection->call_object(title_ ? "session.title" : "session.show", params);
        if (!result) return complain("title", result.error());
        const auto title = wire::text_at(*result, "title");
        if (json_) {
            print_json(title_ ? *result : JsonObject{{"session_id", *id}, {"title", title}});
        } else if (!title_) {
            print_line(context.output.interactive ? one_line(title) : std::string(title));
        } else {
            print_line(fmt::format("{} {}", *id, describe(*result, title)));
        }
        return exit_done;
    }

  private:
    static std::string describe(const JsonObject& result, std::string_view title) {
        const bool changed = wire::bool_at(result, "changed");
        if (title.empty()) return changed ? "has no title any more" : "had no title";
        return fmt::format("{} \"{}\"",
                           changed ? "is now called" : "was called so already:", one_line(title));
    }

    std::string id_;
    std::optional<std::string> title_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_title() {
    return std::make_unique<Title>();
}

}  // namespace knell::cli
