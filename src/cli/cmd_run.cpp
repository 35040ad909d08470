#include <cerrno>
#include <filesystem>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/run_child.hpp"
#include "cli/run_orphans.hpp"
#include "cli/run_renewal.hpp"
#include "cli/run_session.hpp"
#include "cli/run_signals.hpp"
#include "cli/run_title.hpp"
#include "cli/text_width.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/environment.hpp"
#include "platform/random.hpp"
#include "wire/given.hpp"
#include "wire/session_fields.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
The command keeps the terminal, its signals and its exit status; the session ends when it does,
however it does. It finds KNELL_SESSION_ID, KNELL_GENERATION and KNELL_SOCKET in its environment;
a `knell run` that it starts records this session as its parent. A daemon is started if none
runs; if that fails the command runs all the same, and what happened is kept for the next daemon.
A daemon in another pid namespace that cannot see the command is told that it lives by a lease,
which this renews; what such a command leaves running is named here, but neither recorded nor
stopped.

The record says how the command ended, and what asked it to: "exit 0 after SIGTERM".

Processes that it started and left running when it ended are named, here and by `knell why`, which
also says what became of them. With --leftovers stop they are stopped: SIGTERM, then SIGKILL for
what still runs five seconds later. Servers that others may use too (tmux, ssh-agent: detached from
the terminal, listening on a unix socket or with clients from outside) are named and left running;
so are owners of other sessions and what holds them.

Examples:
  knell run -- claude
  knell run --source cron --title "nightly build" -- make -C /srv/app all
  knell run --leftovers stop -- make test
  knell run --id build-42 -- ./agent      starts build-42, or opens it again after it ended

Exit status: that of the command; where a signal ended it, knell run ends by the same signal. 127
the command was not found, and no session is opened, 126 it cannot be executed, 1 the session is
another live process's, 2 wrong usage.)";

/// "" when it is gone or too long; what no text can hold is replaced.
std::string working_directory() {
    std::error_code error;
    const auto path = std::filesystem::current_path(error).string();
    if (error) return {};
    auto text = is_utf8(path) && !has_control_character(path) ? path : one_line(path);
    return text.size() <= limits::cwd_bytes_max ? text : std::string{};
}

/// As a shell says it.
constexpr int exit_not_found = 127;

/// Whether there is a file of that name to try, as execvp(3) would look for it.
bool is_there(const std::string& program) {
    const auto exists = [](const std::string& path) {
        return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
    };
    if (program.empty()) return false;
    if (program.contains('/')) return exists(program);
    auto path = environment_variable("PATH");
    if (path.empty()) path = "/bin:/usr/bin";
    std::string_view rest = path;
    for (bool is_last = false; !is_last;) {
        is_last = !rest.contains(':');
        const auto folder = take_field(rest, ':');
        if (exists(folder.empty() ? program : fmt::format("{}/{}", folder, program))) return true;
    }
    return false;
}

/// The session whose command we were started by, directly or not; "" where there is none.
std::string parent_session() {
    auto id = environment_variable("KNELL_SESSION_ID");
    return why_not_an_id(id) ? "" : id;
}

constexpr std::array typed_params{wire::fields::source_param, wire::fields::key_param,
                                  wire::fields::title_param};

class Run final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--source", source_, "Source of the session (default: cli)")
            ->option_text("S");
        app.add_option("--key", key_, "Routing key of the session")->option_text("K");
        app.add_option("--title", title_, "Title of the session (default: the command line)")
            ->option_text("T");
        app.add_option("--id", id_, "Id of the session (default: a new one)")
            ->option_text("ID")
            ->check(CLI::Validator(
                [](const std::string& text) { return why_not_an_id(text).value_or(""); }, ""));
        app.add_option(
               "--leftovers", leftovers_,
               "What to do with processes it leaves running: report or stop (default: report)")
            ->option_text("WHAT")
            ->check(CLI::IsMember({"report", "stop"}));
        app.prefix_command();
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (context.command.empty()) {
            complain("run", "there is no command to run\nTry: knell run --help");
            return exit_usage;
        }
        if (const auto wrong = why_not_recordable()) {
            complain("run", *wrong + "\nTry: knell run --help");
            return exit_usage;
        }
        if (!is_there(context.command.front())) {
            complain("run", fmt::format("{}: command not found; no session was opened",
                                        context.command.front()));
            return exit_not_found;
        }
        const bool had_children = has_children();
        const RunSignals signals;
        auto child = HeldChild::start(context.command, signals);
        if (!child) return complain("run", child.error());
        RunSession session(context.paths, params(context.command, /*is_reaper=*/!had_children),
                           default_title(context.command));
        if (const auto opened = session.open(child->pid()); !opened) {
            child->dismiss();
            complain("run", opened.error());
            return opened.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        // Not before: a daemon that was just started is nobody's orphan.
        adopt_orphans();
        const auto generation = session.generation();
        child->release({.session_id = session.id().text(),
                        .generation = generation == 0 ? "" : fmt::format("{}", generation),
                        .socket = session.socket()});
        // Not before: what it starts would hold the gate of the child open.
        LeaseRenewal renewal(session, context.paths.socket, child->pid());
        const auto outcome = signals.wait_for(
            child->pid(), [&] { return session.needs_renewal() ? renewal.tend() : std::nullopt; });
        const auto orphans_because = [&](std::string_view why) {
            return orphan_lines({.command = child->pid(),
                                 .renewer = renewal.process(),
                                 .had_children = had_children,
                                 .should_stop = leftovers_ == "stop",
                                 .why = why});
        };
        std::vector<std::string> orphans;
        // Before the end is told: a daemon that is started for that is nobody's orphan.
        if (session.is_untold()) {
            orphans = orphans_because("no daemon could be reached when it began");
        } else if (session.needs_renewal()) {
            orphans = orphans_because("the daemon cannot see it from its pid namespace");
        }
        close(session, outcome, child->pid(), had_children);
        if (session.is_end_untold() && orphans.empty()) {
            orphans = orphans_because("its end could not be told to a daemon");
        }
        for (const auto& line : orphans) complain("run", line);
        child->reap();
        return end_like(outcome.wait_status);
    }

  private:
    /// What is wrong with an option.  Known before anything runs: the daemon would refuse the
    /// record, now or when it finds it in the spool.
    std::optional<std::string> why_not_recordable() const {
        JsonObject typed{{"source", source_}, {"title", title_}};
        if (!key_.empty()) typed["key"] = key_;
        for (const auto& [name, value] : typed) {
            if (is_utf8(std::string_view(value.get_string()))) continue;
            return fmt::format("--{} holds bytes that are not UTF-8", std::string_view(name));
        }
        wire::Given<typed_params> given(typed, /*trace=*/nullptr, /*prefix=*/"--");
        given.get<"source">();
        given.get<"key">();
        given.get<"title">();
        if (!given.error()) return std::nullopt;
        return given.error()->message;
    }

    /// All that we are the parent of is taken for the command's.  Where others' children are among
    /// ours, a process that has none does the asking.
    static void close(RunSession& session, const RunOutcome& outcome, pid_t command,
                      bool had_children) {
        if (!had_children) return session.close(outcome, command);
        const pid_t asker = ::fork();
        if (asker < 0) return session.close(outcome, std::nullopt);
        if (asker == 0) {
            session.close(outcome, command);
            ::_exit(0);
        }
        while (::waitpid(asker, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    /// The id is made here even where the daemon could: a call whose answer is lost can then be
    /// repeated, or kept in the spool, without making a second session.
    JsonObject params(const std::vector<std::string>& command, bool is_reaper) const {
        JsonObject params;
        params["id"] = id_.empty() ? make_uuid7(read_clocks().wall, random_bits()) : id_;
        if (!key_.empty()) params["key"] = key_;
        params["source"] = source_;
        params["leftovers"] = leftovers_;
        params["reaper"] = is_reaper;
        const auto parent = parent_session();
        if (!parent.empty() && parent != params["id"].as_string()) params["parent_id"] = parent;
        params["title"] = title_.empty() ? default_title(command) : title_;
        if (const auto cwd = working_directory(); !cwd.empty()) params["cwd"] = cwd;
        return params;
    }

    std::string source_ = "cli";
    std::string key_;
    std::string title_;
    std::string id_;
    std::string leftovers_ = "report";
};

}  // namespace

std::unique_ptr<Command> make_run() {
    return std::make_unique<Run>();
}

}  // namespace knell::cli
