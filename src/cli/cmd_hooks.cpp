#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/hooks_preview.hpp"
#include "cli/hooks_report.hpp"
#include "cli/new_hook.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "core/subscriber_name.hpp"
#include "daemon/daemon.hpp"
#include "platform/small_file.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr auto footer = R"(
Actions:
  ls              every hook and webhook with its state: last delivery, lag, failures, next try
  new NAME        make a hook to start from: a HOOK.yaml and a script, with comments
  test NAME       try one with an event that never happened, and show what it said; a hook also
                  while no daemon runs
  runs NAME       the last ten runs of a hook, with what it wrote
  letters [NAME]  events that wait for another try, and dead letters, which were given up
  retry [NAME]    send what waits and what was given up again, now
  pause NAME      deliver nothing until resumed; nothing is lost meanwhile
  resume NAME     go on where it was paused, or disabled by its receiver
  forget NAME     drop the cursor and the letters of one whose directory or entry is gone

A hook is a directory in hooks/ with a HOOK.yaml and a program; a webhook is an entry in
config.yaml. Both are picked up as soon as they are written. An event is delivered at least once,
in order for its session, and always under the same id.

Examples:
  knell hooks
  knell hooks new ops && knell hooks test ops
  knell hooks ls --json | jq -r '.hooks[] | select(.state == "failing") | .name'

Exit status: 0 done, 1 failed or the test did, 2 wrong usage.)";

class Hooks final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ACTION", action_, "What to do (default: ls)")
            ->check(CLI::IsMember(std::vector<std::string>{"ls", "new", "test", "runs", "letters",
                                                           "retry", "pause", "resume", "forget"}));
        app.add_option("NAME", name_, "The hook or webhook");
        app.add_flag("--dead", dead_, "With letters: only those that were given up");
        app.add_flag("--dry-run", dry_run_,
                     "Only show what would be done; reads are made all the same");
        app.add_flag("--yes", yes_, "With forget: do not ask");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        const bool needs_name = action_ != "ls" && action_ != "letters" && action_ != "retry";
        if (needs_name && name_.empty()) {
            note(action_ == "new"
                     ? std::string("knell hooks: new needs a NAME for the hook")
                     : fmt::format("knell hooks: {} needs the NAME of a hook or webhook; `knell "
                                   "hooks ls` lists them",
                                   action_));
            return exit_usage;
        }
        if (action_ == "new") return make(context);
        if (action_ == "runs") return runs(context);
        auto connection = client::connect(context.paths);
        if (!connection && action_ == "test" && !dry_run_ &&
            connection.error().code == ErrorCode::unreachable) {
            return try_here(context);
        }
        if (!connection) return complain("hooks", connection.error());
        if (action_ == "ls") return list(*connection, context);
        if (action_ == "letters") return letters(*connection, context);
        if (dry_run_) return preview(*connection);
        if (action_ == "test") return test(*connection);
        if (action_ == "forget" && !yes_ && is_terminal(STDIN_FILENO) &&
            !confirm(fmt::format("Forget {} and all events that wait for it?", name_))) {
            return complain("hooks", "nothing was forgotten");
        }
        return act(*connection);
    }

  private:
    int list(client::Connection& connection, const Context& context) const {
        const auto result = connection.call_object("hooks.list", {});
        if (!result) return complain("hooks", result.error());
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        print(hooks_table(*result, context.output, context.paths.hooks_dir));
        return exit_done;
    }

    int letters(client::Connection& connection, const Context& context) const {
        JsonObject params{{"limit", 1000}};
        if (!name_.empty()) params["name"] = name_;
        if (dead_) params["state"] = "dead";
        JsonArray all;
        for (;;) {
            const auto page = connection.call_object("hooks.letters", params);
            if (!page) return complain("hooks", page.error());
            const auto* found = wire::array_at(*page, "letters");
            if (found != nullptr) all.insert(all.end(), found->begin(), found->end());
            const auto next = text_at(*page, "next");
            if (next.empty()) break;
            params["cursor"] = next;
        }
        const JsonObject result{{"letters", std::move(all)}};
        if (json_) {
            print_json(result);
        } else {
            print(letters_table(result, context.output, /*only_dead=*/dead_));
        }
        return exit_done;
    }

    int make(const Context& context) const {
        const auto folder = fmt::format("{}/{}", context.paths.hooks_dir, name_);
        if (dry_run_) {
            print_line(fmt::format("would make {}/HOOK.yaml and {}/run", folder, folder));
            return exit_done;
        }
        const auto made = make_new_hook(context.paths.hooks_dir, name_);
        if (!made) {
            complain("hooks", made.error());
            return made.error().code == ErrorCode::invalid_params ? exit_usage : exit_failed;
        }
        if (json_) {
            print_json(JsonObject{{"name", name_}, {"directory", *made}});
        } else {
            print_line(fmt::format("{}: made; try it with: knell hooks test {}", *made, name_));
        }
        return exit_done;
    }

    int try_here(const Context& context) const {
        const auto tried = try_hook(context.paths, name_);
        if (!tried) return complain("hooks", tried.error());
        JsonObject result{{"delivered", tried->delivered}, {"took_ms", tried->took.count()}};
        if (!tried->what.empty()) result["what"] = tried->what;
        if (!tried->output.empty()) result["output"] = tried->output;
        if (json_) {
            print_json(result);
        } else {
            note("no daemon runs: it was run from here, with the environment of this shell");
            print(test_report(name_, result));
        }
        return tried->delivered ? exit_done : exit_failed;
    }

    /// They are kept in a file, so no daemon is needed.
    int runs(const Context& context) const {
        if (const auto why = why_not_a_subscriber_name(name_)) {
            note(fmt::format("knell hooks: the NAME {}\nTry: knell hooks --help", *why));
            return exit_usage;
        }
        const auto text = read_small_file(hook_runs_file(context.paths, name_));
        if (!text) {
            return complain("hooks", fmt::format("no run of a hook {} is on record; `knell hooks` "
                                                 "lists the hooks there are",
                                                 name_));
        }
        if (json_) {
            print_json(JsonObject{{"name", name_}, {"runs", *text}});
        } else {
            print(*text);
        }
        return exit_done;
    }

    int test(client::Connection& connection) const {
        // A hook may take ten minutes before it is ended.
        const client::Deadline deadline{std::chrono::minutes{11}};
        const auto answer = connection.call("hooks.test", {{"name", name_}}, deadline);
        if (!answer) return complain("hooks", answer.error());
        const auto& result = answer->as_object();
        const bool delivered = wire::bool_at(result, "delivered");
        if (json_) {
            print_json(result);
        } else {
            print(test_report(name_, result));
        }
        return delivered ? exit_done : exit_failed;
    }

    int preview(client::Connection& connection) const {
        const auto result = connection.call_object("hooks.list", {});
        if (!result) return complain("hooks", result.error());
        const auto would = hooks_preview(action_, name_, *result);
        if (!would) return complain("hooks", would.error());
        if (json_) {
            print_json(JsonObject{{"dry_run", true}, {"would", *would}});
        } else {
            print_line("would " + *would);
        }
        return exit_done;
    }

    int act(client::Connection& connection) const {
        JsonObject params;
        if (!name_.empty()) params["name"] = name_;
        const auto result = connection.call_object("hooks." + action_, params);
        if (!result) return complain("hooks", result.error());
        if (json_) {
            print_json(*result);
        } else if (action_ == "retry") {
            const auto count = int_at(*result, "retried");
            print_line(count == 0   ? "nothing waits"
                       : count == 1 ? "1 event is sent again now"
                                    : fmt::format("{} events are sent again now", count));
        } else if (action_ == "forget") {
            print_line(fmt::format("{} is forgotten", name_));
        } else {
            print_line(fmt::format("{} is {}", name_, text_at(*result, "state")));
        }
        return exit_done;
    }

    std::string action_ = "ls";
    std::string name_;
    bool dead_ = false;
    bool dry_run_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_hooks() {
    return std::make_unique<Hooks>();
}

}  // namespace knell::cli
