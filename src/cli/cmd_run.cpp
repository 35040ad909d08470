#include <filesystem>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/run_child.hpp"
#include "cli/run_session.hpp"
#include "cli/run_signals.hpp"
#include "cli/run_title.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/random.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
The command keeps the terminal, its signals and its exit status; the session ends when it does,
however it does. It finds KNELL_SESSION_ID, KNELL_GENERATION and KNELL_SOCKET in its environment. A
daemon is started if none runs; if that fails the command runs all the same, and what happened is
kept for the next daemon.

Examples:
  knell run -- claude
  knell run --source cron --title "nightly build" -- make -C /srv/app all
  knell run --id build-42 -- ./agent      starts build-42, or opens it again after it ended

Exit status: that of the command; a command that dies of a signal is followed into it. 127 the
command was not found, 126 it cannot be executed, 1 the session is another live process's, 2 wrong
usage.)";

/// "" when it is gone, or is no text that a result could hold.
std::string working_directory() {
    std::error_code error;
    auto path = std::filesystem::current_path(error).string();
    if (error || !is_utf8(path) || has_control_character(path)) return {};
    return path.size() <= limits::cwd_bytes_max ? path : std::string{};
}

class Run final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--source", source_, "What kind of session; cli unless told otherwise")
            ->option_text("S");
        app.add_option("--key", key_, "Its routing key")->option_text("K");
        app.add_option("--title", title_, "Its title; the command line unless told otherwise")
            ->option_text("T");
        app.add_option("--id", id_, "Its id; a new one unless told otherwise")
            ->option_text("ID")
            ->check(CLI::Validator(
                [](const std::string& text) { return why_not_an_id(text).value_or(""); }, ""));
        app.prefix_command();
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (context.command.empty()) {
            complain("run", "there is no command to run\nTry: knell run --help");
            return exit_usage;
        }
        const RunSignals signals;
        auto child = HeldChild::start(context.command, signals);
        if (!child) return complain("run", child.error());
        RunSession session(context.paths, params(context.command));
        if (const auto opened = session.open(child->pid()); !opened) {
            child->dismiss();
            complain("run", opened.error());
            return opened.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        const auto generation = session.generation();
        child->release({.session_id = session.id().text(),
                        .generation = generation == 0 ? "" : fmt::format("{}", generation),
                        .socket = context.paths.socket});
        const int status = signals.wait_for(child->pid());
        session.close(status);
        return end_like(status);
    }

  private:
    /// The id is made here even where the daemon could: a call whose answer is lost can then be
    /// repeated, or kept in the spool, without making a second session.
    JsonObject params(const std::vector<std::string>& command) const {
        JsonObject params;
        params["id"] = id_.empty() ? make_uuid7(read_clocks().wall, random_bits()) : id_;
        if (!key_.empty()) params["key"] = key_;
        params["source"] = source_;
        params["title"] = title_.empty() ? default_title(command) : title_;
        if (const auto cwd = working_directory(); !cwd.empty()) params["cwd"] = cwd;
        return params;
    }

    std::string source_ = "cli";
    std::string key_;
    std::string title_;
    std::string id_;
};

}  // namespace

std::unique_ptr<Command> make_run() {
    return std::make_unique<Run>();
}

}  // namespace knell::cli
