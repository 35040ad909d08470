#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/duration_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_listing.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "cli/session_screen.hpp"
#include "cli/text_width.hpp"
#include "client/connect.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/environment.hpp"

namespace knell::cli {

namespace {

/// Who reads a screen wants to see what is alive without scrolling; a program has no screen.
constexpr std::int64_t ended_on_screen = 10;
constexpr std::int64_t ended_for_programs = 50;

constexpr auto footer = R"(
Sessions that are open come first, however old they are, then those that ended last, ten of them.
WHAT is a session's title, else its command; AGE is when it started, ACTIVE when it was last heard
of or, once it ended, when that was. The shortest id that is unique is shown; every verb takes it.
On a narrow terminal columns are left out, and STATUS says why a session ended.
A status is running, attached, background, idle, detached, stalled, unknown or ended.

Sessions of sub-agents and cron, and empty ones that ended, are folded away: the last line counts
them, -a lists them. --live leaves out what ended, and hosted sessions that were idle and without a
client for half a minute. --limit and --cursor give pages for programs, the newest session first.

Examples:
  knell ls
  knell ls -a --since 2h
  knell ls --dir .
  knell ls --watch
  knell end $(knell ls -q --open --dir .)
  knell ls --json | jq -r '.sessions[].id'

Exit status: 0 done, 1 failed, 2 wrong usage.)";

class Ls final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("-a,--all", all_, "Everything, also what is folded away");
        auto* last =
            app.add_option("-n,--last", last_,
                           "At most N that ended (default: 10, with --json 50, with -a or --since "
                           "all)")
                ->option_text("N")
                ->check(CLI::Range(std::int64_t{0}, ended_rows_max));
        app.add_flag("-q,--quiet", quiet_, "Only the ids, whole, one a line");
        app.add_option("--since", since_, "Of those that ended only what did so since, such as 2h")
            ->option_text("TIME");
        app.add_option("--dir", dir_, "Only sessions of this directory, or one below it")
            ->option_text("DIR");
        app.add_flag("-w,--watch", watch_, "Show it anew whenever something changes, until Ctrl-C");
        auto* source =
            app.add_option("--source", source_, "Only sessions of this source")->option_text("S");
        auto* key =
            app.add_option("--key", key_, "Only sessions with this routing key")->option_text("K");
        auto* status = app.add_option("--status", status_, "Only sessions with this status")
                           ->option_text("ST")
                           ->check(CLI::IsMember(
                               std::vector<std::string>(status_names.begin(), status_names.end())));
        auto* ended = app.add_flag("--ended", ended_, "Only sessions that ended");
        auto* open =
            app.add_flag("--open", open_, "Only sessions that did not end")->excludes(ended);
        auto* live = app.add_flag("--live", live_, "Only sessions that are live; no other filter");
        for (auto* other : {source, key, status, ended, open, last}) live->excludes(other);
        app.add_option("--limit", limit_, "A page of so many sessions, the newest first")
            ->option_text("N")
            ->check(CLI::Range(1, static_cast<int>(limits::list_page_max)));
        app.add_option("--cursor", cursor_, "Go on where an earlier page ended")->option_text("C");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (const auto wrong = read_options(context); !wrong.empty()) {
            complain("ls", wrong + "\nTry: knell ls --help");
            return exit_usage;
        }
        auto connection = client::connect(context.paths);
        if (!connection) return complain("ls", connection.error());
        if (watch_) {
            return watch_sessions(std::move(*connection), context.paths,
                                  [this](client::Connection& asked, const Terminal& terminal) {
                                      return screen(asked, terminal);
                                  });
        }
        return is_page() ? print_page(*connection, context) : print_list(*connection, context);
    }

  private:
    /// What is wrong with them; "" when nothing is.
    std::string read_options(const Context& context) {
        if (!since_.empty()) {
            within_ = parse_duration(since_, std::chrono::seconds{1});
            if (!within_ || within_->count() == 0) {
                return fmt::format("--since {}: say how long ago, such as 90s, 30m, 2h or 7d",
                                   since_);
            }
        }
        if (!dir_.empty()) {
            std::error_code error;
            auto whole = std::filesystem::weakly_canonical(dir_, error);
            if (error) return fmt::format("--dir {}: {}", dir_, error.message());
            dir_ = whole.string();
        }
        if (is_page() && (within_ || !dir_.empty() || last_ || watch_)) {
            return "--since, --dir, -n and --watch list whole, --live, --limit and --cursor do not";
        }
        if (watch_ && (json_ || quiet_)) return "--watch is for people: not with --json or -q";
        if (watch_ && !context.output.interactive) return "--watch needs a terminal";
        return {};
    }

    /// For programs: as the daemon gives it, in the order in which sessions were opened.
    bool is_page() const { return live_ || limit_ > 0 || !cursor_.empty(); }

    ListingQuery query() const {
        const bool wants_ended = !open_ && (status_.empty() || status_ == "ended");
        ListingQuery query{.source = source_,
                           .key = key_,
                           .status = status_ == "ended" ? "" : status_,
                           .cwd = dir_,
                           .within = within_,
                           .all = all_,
                           .open = !ended_ && status_ != "ended"};
        if (wants_ended) query.ended_max = ended_max();
        return query;
    }

    std::int64_t ended_max() const {
        if (last_) return *last_;
        if (all_ || within_) return ended_rows_max;
        return json_ ? ended_for_programs : ended_on_screen;
    }

    int print_list(client::Connection& connection, const Context& context) const {
        auto listing = read_listing(connection, query());
        if (!listing) return complain("ls", listing.error());
        if (json_) {
            print_json(JsonObject{{"sessions", std::move(listing->sessions)}});
            return exit_done;
        }
        if (quiet_) {
            print_ids(listing->sessions);
            return exit_done;
        }
        const auto folded = folded_line(*listing);
        if (listing->sessions.empty()) {
            note(wrap(why_empty(folded), {.width = describe_terminal(STDERR_FILENO).width}));
            return exit_done;
        }
        print(table(connection, listing->sessions, context.output));
        if (!folded.empty()) {
            note(wrap(folded, {.width = describe_terminal(STDERR_FILENO).width}));
        }
        return exit_done;
    }

    int print_page(client::Connection& connection, const Context& context) const {
        const auto result = read_page(connection);
        if (!result) return complain("ls", result.error());
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        const auto* sessions = wire::array_at(*result, "sessions");
        if (sessions == nullptr || sessions->empty()) {
            if (!quiet_) note(why_empty(""));
            return exit_done;
        }
        if (quiet_) {
            print_ids(*sessions);
        } else {
            print(table(connection, *sessions, context.output));
        }
        if (const auto next = wire::text_at(*result, "next"); !next.empty()) {
            note(fmt::format("there are more: repeat the command with --cursor {}", next));
        }
        return exit_done;
    }

    /// What --watch shows.
    Result<std::string> screen(client::Connection& connection, const Terminal& terminal) const {
        const auto listing = read_listing(connection, query());
        if (!listing) return std::unexpected(listing.error());
        const auto folded = folded_line(*listing);
        if (listing->sessions.empty()) return why_empty(folded) + "\n";
        return table(connection, listing->sessions, terminal) +
               (folded.empty() ? "" : fit(folded, terminal.width) + "\n");
    }

    static std::string table(client::Connection& connection, const JsonArray& sessions,
                             const Terminal& terminal) {
        SessionView view{.terminal = terminal, .home = environment_variable("HOME")};
        std::vector<std::string> ids;
        for (const auto& session : sessions) ids.emplace_back(id_of(session));
        // Whole ids are as good, only longer.
        if (auto shortened = short_ids(connection, ids)) view.ids = std::move(*shortened);
        return session_table(sessions, read_clocks().wall, view).render(terminal);
    }

    static std::string_view id_of(const Json& session) {
        const auto* object = session.if_object();
        return object == nullptr ? std::string_view{} : wire::text_at(*object, "id");
    }
    static void print_ids(const JsonArray& sessions) {
        for (const auto& session : sessions) print_line(id_of(session));
    }

    bool filtered() const {
        return !source_.empty() || !key_.empty() || !status_.empty() || !dir_.empty() || within_ ||
               ended_ || open_ || live_ || !cursor_.empty();
    }

    std::string why_empty(const std::string& folded) const {
        if (filtered()) return "no sessions match. Without filters: knell ls --all";
        if (!folded.empty()) return fmt::format("no sessions to show. {}", folded);
        return "no sessions. Start one with: knell run -- COMMAND";
    }

    /// A page ends by bytes too: asks on until there are as many as were asked for.
    Result<JsonObject> read_page(client::Connection& connection) const {
        auto wanted = page_params();
        auto result = connection.call_object(page_method(), wanted);
        while (result && limit_ > 0) {
            auto* sessions = result->if_contains("sessions");
            const auto next = std::string(wire::text_at(*result, "next"));
            if (sessions == nullptr || !sessions->is_array() || next.empty()) break;
            const auto left = limit_ - static_cast<std::int64_t>(sessions->get_array().size());
            if (left <= 0) break;
            wanted["cursor"] = next;
            wanted["limit"] = left;
            auto more = connection.call_object(page_method(), wanted);
            if (!more) return more;
            auto& all = sessions->get_array();
            if (const auto* found = wire::array_at(*more, "sessions")) {
                all.insert(all.end(), found->begin(), found->end());
            }
            result->erase("next");
            if (const auto* further = more->if_contains("next")) (*result)["next"] = *further;
        }
        return result;
    }

    const char* page_method() const { return live_ ? "session.active_list" : "session.list"; }

    JsonObject page_params() const {
        JsonObject params;
        if (!source_.empty()) params["source"] = source_;
        if (!key_.empty()) params["key"] = key_;
        if (!status_.empty()) params["status"] = status_;
        if (ended_ || open_) params["ended"] = ended_;
        if (all_) params["all"] = true;
        if (limit_ > 0) params["limit"] = limit_;
        if (!cursor_.empty()) params["cursor"] = cursor_;
        return params;
    }

    bool all_ = false;
    std::optional<std::int64_t> last_;
    bool quiet_ = false;
    std::string since_;
    std::optional<std::chrono::seconds> within_;
    std::string dir_;
    bool watch_ = false;
    std::string source_;
    std::string key_;
    std::string status_;
    bool ended_ = false;
    bool open_ = false;
    bool live_ = false;
    int limit_ = 0;
    std::string cursor_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ls() {
    return std::make_unique<Ls>();
}

}  // namespace knell::cli
