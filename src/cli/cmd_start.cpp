#include <filesystem>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"
#include "platform/environment.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Starts a program that goes on after this command, on record as a background process of a session.
It has no terminal; what it writes is kept for `knell logs`. It runs in the current directory, with
PATH as it is here and otherwise only what --env says and what the daemon gives to hooks; it finds
KNELL_SESSION_ID and KNELL_PROCESS_ID in its environment. Prints the process's id.

Examples:
  knell start --session build-42 -- python3 -m http.server 8000
  knell start --session build-42 --title "watch the docs" --env PORT=8080 -- npm run watch
  id=$(knell start --title tests -- make test) && knell logs -f $id

Exit status: 0 it was started, 1 failed, 2 wrong usage.)";

std::string why_not_a_variable(const std::string& text) {
    const auto end = text.find('=');
    if (end == 0) return "a variable has no name before its =; give NAME=VALUE";
    if (end == std::string::npos) return fmt::format("\"{}\" is not NAME=VALUE", text);
    return {};
}

/// What cannot be sent to the daemon, or "".  Without its bytes: they may be a secret.
std::string why_not_text(const std::vector<std::string>& command,
                         const std::vector<std::string>& variables) {
    constexpr std::string_view why = "is not UTF-8 text, and cannot be kept on record";
    for (std::size_t i = 0; i < command.size(); ++i) {
        if (is_utf8(command[i])) continue;
        return i == 0 ? fmt::format("the program's name {}", why)
                      : fmt::format("argument {} of the program {}", i, why);
    }
    for (const auto& variable : variables) {
        const auto name = variable.substr(0, variable.find('='));
        if (is_utf8(variable)) continue;
        return is_utf8(name) ? fmt::format("the value of --env {} is not UTF-8 text", name)
                             : std::string("the name of an --env is not UTF-8 text");
    }
    return {};
}

class Start final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--session", session_, "The session (default: $KNELL_SESSION_ID)")
            ->option_text("ID");
        app.add_option("--task", task_, "The agent's task that it belongs to")->option_text("T");
        app.add_option("--title", title_, "What it is for, for people")->option_text("T");
        app.add_option("--cwd", cwd_, "Its working directory (default: this one)")
            ->option_text("D");
        app.add_option("--env", env_, "A variable of its environment; may be given again")
            ->option_text("N=V")
            ->allow_extra_args(false)
            ->check(CLI::Validator(why_not_a_variable, ""));
        app.add_flag("--json", json_, "Print the process as JSON");
        app.prefix_command();
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (session_.empty()) session_ = environment_variable("KNELL_SESSION_ID");
        const char* wrong = context.command.empty() ? "there is no command to start"
                            : session_.empty()
                                ? "name the session that it belongs to with --session"
                                : nullptr;
        if (wrong != nullptr) {
            complain("start", fmt::format("{}\nTry: knell start --help", wrong));
            return exit_usage;
        }
        if (const auto why = why_not_text(context.command, env_); !why.empty()) {
            complain("start", why);
            return exit_usage;
        }
        auto connection = client::connect(context.paths);
        if (!connection) return complain("start", connection.error());
        auto session = find_id_or_keep(*connection, session_);
        if (!session) return complain("start", session.error());
        session_ = std::move(*session);
        const auto result = connection->call_object("process.start", params(context.command));
        if (!result) {
            complain("start", result.error());
            return result.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        const auto id = wire::text_at(*result, "process_id");
        print_line(id);
        if (is_terminal(STDERR_FILENO)) {
            note(fmt::format("started as pid {}; see: knell logs -f {}",
                             wire::int_at(*result, "pid"), id));
        }
        return exit_done;
    }

  private:
    JsonObject params(const std::vector<std::string>& command) const {
        JsonObject params{{"session_id", session_},
                          {"argv", JsonArray(command.begin(), command.end())}};
        if (!task_.empty()) params["task_id"] = task_;
        if (!title_.empty()) params["title"] = title_;
        std::error_code error;
        const auto here = std::filesystem::current_path(error);
        if (!error || std::filesystem::path(cwd_).is_absolute()) {
            params["cwd"] =
                cwd_.empty() ? here.string() : (here / cwd_).lexically_normal().string();
        }
        JsonObject env;
        if (const auto path = environment_variable("PATH"); !path.empty()) env["PATH"] = path;
        for (const auto& variable : env_) {
            const auto end = variable.find('=');
            env[variable.substr(0, end)] = variable.substr(end + 1);
        }
        if (!env.empty()) params["env"] = std::move(env);
        return params;
    }

    std::string session_;
    std::string task_;
    std::string title_;
    std::string cwd_;
    std::vector<std::string> env_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_start() {
    return std::make_unique<Start>();
}

}  // namespace knell::cli
