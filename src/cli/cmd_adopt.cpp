#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/control_verbs.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/start_daemon.hpp"
#include "config/config.hpp"
#include "core/ids.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Opens a session for a process that runs already: its command line, its directory, and its end, which
is seen however it comes. The process notices nothing, and finds no KNELL_SESSION_ID. How it exits
only its parent is told: unless the kernel tells others too, its end reads owner_lost. A daemon is
started if none runs.

Only a process of yours; root may adopt anybody's. Refused are threads, threads of the kernel, init,
processes of knell, and one that keeps a session already.

Examples:
  knell adopt 4242
  knell adopt $(pgrep -n claude) --title "the long refactoring"

Exit status: 0 done, 1 failed, 2 wrong usage, also where that process cannot be adopted.)";

class Adopt final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("PID", pid_, "The process")->required()->check(CLI::Range(1, INT32_MAX));
        app.add_option("--title", title_, "Title of the session (default: its command line)")
            ->option_text("T");
        app.add_option("--source", source_, "Source of the session (default: cli)")
            ->option_text("S");
        app.add_option("--key", key_, "Routing key of the session")->option_text("K");
        app.add_option("--id", id_, "Id of the session (default: a new one)")
            ->option_text("ID")
            ->check(CLI::Validator(
                [](const std::string& text) { return why_not_an_id(text).value_or(""); }, ""));
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        JsonObject params{{"pid", pid_}, {"source", source_}};
        if (!title_.empty()) params["title"] = title_;
        if (!key_.empty()) params["key"] = key_;
        if (!id_.empty()) params["id"] = id_;
        auto connection = client::connect_or_start(context.paths, variables_in_config,
                                                   client::Deadline{client::start_timeout_default});
        if (!connection) return complain("adopt", connection.error());
        const auto result = connection->call_object("session.adopt", params);
        if (!result) {
            complain("adopt", words_of(result.error()));
            return result.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        const auto id = wire::text_at(*result, "session_id");
        print_line(id);
        if (is_terminal(STDERR_FILENO)) {
            note(fmt::format("process {} is a session now; see: knell show {}", pid_, id));
        }
        return exit_done;
    }

  private:
    /// What the daemon says of its parameter, said of the process.
    std::string words_of(const Error& error) const {
        constexpr std::string_view field = "pid: ";
        if (!error.message.starts_with(field)) return error.message;
        auto what = error.message.substr(field.size());
        const bool is_about_it =
            what.starts_with("is ") || what.starts_with("owns ") || what.starts_with("belongs ");
        return is_about_it ? fmt::format("process {} {}", pid_, what) : what;
    }

    int pid_ = 0;
    std::string title_;
    std::string source_ = "cli";
    std::string key_;
    std::string id_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_adopt() {
    return std::make_unique<Adopt>();
}

}  // namespace knell::cli
