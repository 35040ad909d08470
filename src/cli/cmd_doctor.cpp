#include <algorithm>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/hermes_report.hpp"
#include "cli/machine_checks.hpp"
#include "cli/output.hpp"
#include "cli/store_doctor.hpp"
#include "daemon/examine_store.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Without --hermes: the store of this home, read beside its daemon or without one, with what must
hold in it: one end a generation, events without holes, counts that are the messages. --repair makes
right what follows from the rest, while no daemon runs and after a copy was made. And what this machine has of what
knell needs: the kernel, pidfds, inotify, descriptors, lingering (whether a daemon under systemd outlives the last
login) and a disk that syncs.

With --hermes: reads state.db of Hermes Agent (schema 11 and later), sessions.json, processes.json, hooks and
config.yaml, and changes nothing. While something has the database open, a private copy is read;
nothing is created, locked or touched there. Only --fix changes something: it ends what is dead as
"reaped", at the last sign of each, while nobody has the database open and after a copy was made
beside it and read back.

A session without an end is alive when a process that is named for it runs, dead when that has
ended, when the gateway has finalized it or when nobody has state.db open, and else unknown: never
dead for its age. The leak rate is the share of sessions without an end that are not alive.

Examples:
  knell doctor
  knell doctor --hermes ~/.hermes
  knell doctor --hermes ~/.hermes --since 2026-05-01
  knell doctor --hermes ~/.hermes --json | jq .leak_rate
  knell doctor --hermes ~/.hermes --fix --dry-run

Exit status: 0 done, 1 failed, this home's store has a fault or no daemon can run here, 2 wrong usage.)";

/// A day, or a moment.
std::optional<WallTime> parse_since(const std::string& text) {
    if (text.size() == 10) return parse_rfc3339(text + "T00:00:00Z");
    return parse_any_rfc3339(text);
}

class Doctor final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* dir = app.add_option("--hermes", hermes_,
                                   "The store of Hermes Agent in that directory, as a rule "
                                   "~/.hermes; default: the store of this home")
                        ->option_text("DIR");
        auto* since =
            app.add_option(
                   "--since", since_,
                   "Also the leak rate by day, of sessions that started then or later: a date "
                   "(UTC) or a time")
                ->option_text("DATE")
                ->needs(dir);
        app.add_flag("--fix", fix_, "With --hermes: end there what is proven dead")
            ->excludes(since)
            ->needs(dir);
        app.add_flag("--repair", repair_,
                     "Make right in this home's store what follows from the rest")
            ->excludes(dir);
        app.add_flag("--dry-run", dry_run_, "With --fix or --repair: only show what would be done");
        app.add_flag("--yes", yes_, "With --fix or --repair: do not ask");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if ((dry_run_ || yes_) && !fix_ && !repair_) {
            note("knell doctor: --dry-run and --yes are for --fix and --repair");
            return exit_usage;
        }
        if (hermes_.empty()) return repair_ ? repair(context) : examine(context);
        if (fix_) return fix(context);
        std::optional<WallTime> since;
        if (!since_.empty()) {
            since = parse_since(since_);
            if (!since) {
                note(
                    fmt::format("knell doctor: --since: \"{}\" is no date like 2026-05-18 and no "
                                "time like 2026-05-18T06:00:00Z",
                                since_));
                return exit_usage;
            }
        }
        const auto now = read_clocks().wall;
        const auto found = hermes::examine(hermes_, hermes::view_processes(), now, since);
        if (!found) return complain("doctor", found.error());
        if (json_) {
            print_json(hermes_json(*found));
        } else {
            print(hermes_report(*found, now, context.output));
        }
        return exit_done;
    }

  private:
    /// A machine without a store is looked at, too: what it lacks may be why there is none.
    int examine(const Context& context) const {
        const auto machine = judge(look_at_machine(context.paths));
        const auto found = examine_store(context.paths);
        if (json_) {
            auto object = found ? store_json(*found) : JsonObject{};
            object["machine"] = machine_json(machine);
            print_json(object);
        } else {
            if (found) print(store_report(*found, read_clocks().wall, context.output) + "\n");
            print(machine_report(machine, context.output));
        }
        if (!found) return complain("doctor", found.error());
        return found->census.fault_count == 0 && may_run(machine) ? exit_done : exit_failed;
    }

    int repair(const Context& context) const {
        const auto found = examine_store(context.paths);
        if (!found) return complain("doctor", found.error());
        const auto& faults = found->census.faults;
        const auto count = std::ranges::count_if(faults, &sqlite::StoreFault::is_repairable);
        if (dry_run_ || count == 0) {
            return tell_repair({}, count, context);
        }
        if (!yes_ && !is_terminal(STDIN_FILENO)) {
            return complain("doctor",
                            fmt::format("nothing was changed: {} rows are to be made right "
                                        "in {}. Say --yes, or see --dry-run",
                                        count, found->path));
        }
        if (!yes_ && !confirm(fmt::format("Make {} rows right in {}? A copy is made first.", count,
                                          found->path))) {
            return complain("doctor", "nothing was changed");
        }
        const auto done = repair_store(context.paths, read_clocks().wall);
        if (!done) return complain("doctor", done.error());
        return tell_repair(*done, done->rows, context);
    }

    int tell_repair(const sqlite::StoreRepair& done, std::int64_t rows, const Context&) const {
        if (json_) {
            JsonObject result{{"dry_run", dry_run_}, {"rows", rows}};
            if (!done.backup.empty()) result["backup"] = done.backup;
            print_json(result);
        } else if (rows == 0) {
            print_line("There is nothing to repair.");
        } else if (dry_run_) {
            print_line(fmt::format("Would make {} row{} right.", rows, rows == 1 ? "" : "s"));
        } else {
            print_line(fmt::format("Made {} row{} right; the store as it was before: {}", rows,
                                   rows == 1 ? "" : "s", done.backup));
        }
        return exit_done;
    }

    int fix(const Context& context) const {
        const auto view = hermes::view_processes();
        const auto now = read_clocks().wall;
        const auto planned = hermes::plan_fix(hermes_, view);
        if (!planned) return complain("doctor", planned.error());
        if (dry_run_ || planned->ended == 0) return tell(*planned, dry_run_, context);
        if (!yes_) {
            if (!is_terminal(STDIN_FILENO)) {
                return complain("doctor",
                                fmt::format("nothing was changed: {} to be ended in {}. Say --yes, "
                                            "or see --dry-run",
                                            planned->ended == 1
                                                ? "1 session is"
                                                : fmt::format("{} sessions are", planned->ended),
                                            planned->database));
            }
            auto text = hermes_fix_report(*planned, /*dry_run=*/true, now,
                                          describe_terminal(STDERR_FILENO));
            text.pop_back();  // note ends the last line itself
            note(text);
            if (!confirm(fmt::format("End them in {}?", planned->database))) {
                return complain("doctor", "nothing was changed");
            }
        }
        const auto done = hermes::fix(hermes_, view, now);
        if (!done) return complain("doctor", done.error());
        return tell(*done, /*dry_run=*/false, context);
    }

    int tell(const hermes::Fix& fix, bool dry_run, const Context& context) const {
        if (json_) {
            print_json(hermes_fix_json(fix, dry_run));
        } else {
            print(hermes_fix_report(fix, dry_run, read_clocks().wall, context.output));
        }
        return exit_done;
    }

    std::string hermes_;
    std::string since_;
    bool fix_ = false;
    bool repair_ = false;
    bool dry_run_ = false;
    bool yes_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
    return std::make_unique<Doctor>();
}

}  // namespace knell::cli
