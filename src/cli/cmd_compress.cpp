#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "cli/text_width.hpp"
#include "client/connect.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

constexpr auto footer = R"(
Has what was said in a session summarised by the providers of summarizer, in their order, and goes
on in a child that begins with the summary. The session itself ends, and its messages stay. Without
a summary nothing is changed, unless summarizer.fallback says otherwise. This may take minutes. What
is the id of a session is taken for one, anything else for a key.

Examples:
  knell compress agent:main:telegram:dm:42
  knell compress build-42 --json | jq -r .child.session_id

Exit status: 0 a child goes on, 1 nothing was changed, or no daemon, 2 wrong usage.)";

class CompressSession final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("KEY|ID", name_, "The key of a conversation, or a session's id")->required();
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("compress", connection.error());
        const auto session = find_session(*connection, name_);
        if (!session) return complain("compress", session.error());
        const auto id = wire::text_at(*session, "id");
        if (is_terminal(STDERR_FILENO)) {
            const auto count = wire::int_at(*session, "message_count");
            note(fmt::format("summarising {} message{} ...", count, count == 1 ? "" : "s"));
        }
        const auto result = connection->call(
            "session.compress",
            {{"session_id", id}, {"generation", wire::int_at(*session, "generation")}},
            client::Deadline{client::compress_timeout});
        if (!result) return complain("compress", result.error());
        const auto* told = result->if_object();
        if (told == nullptr) return complain("compress", "the daemon gave no result");
        if (json_) print_json(*told);
        return tell(*told, id);
    }

  private:
    int tell(const JsonObject& result, std::string_view id) const {
        const auto outcome = text_at(result, "outcome");
        const auto why = one_line(text_at(result, "why"));
        if (outcome == "failed") {
            return complain("compress", fmt::format("{} is as it was: {}", id, why));
        }
        if (json_) return exit_done;
        const auto* child = wire::object_at(result, "child");
        const auto child_id = child == nullptr ? std::string_view{} : text_at(*child, "session_id");
        if (outcome == "tail") {
            print_line(fmt::format("{} goes on as {} from its last messages alone: {}", id,
                                   child_id, why));
        } else {
            print_line(fmt::format("{} goes on as {} from a summary by {}", id, child_id,
                                   one_line(text_at(result, "provider"))));
        }
        return exit_done;
    }

    std::string name_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compress() {
    return std::make_unique<CompressSession>();
}

}  // namespace knell::cli
