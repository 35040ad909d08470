#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "cli/command.hpp"
#include "cli/event_rows.hpp"
#include "cli/exit_status.hpp"
#include "cli/follow.hpp"
#include "cli/output.hpp"
#include "cli/pager.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"
#include "core/event.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

using wire::int_at;

constexpr std::int64_t limit_default = 50;

constexpr auto footer = R"(
Without --after the newest events are shown. Every event has a number that rises by one; give the
last one you saw to --after to get what follows; when the limit leaves some out, standard error says
so. With --follow all that follows is shown, and what happens as it happens; it waits for a
daemon where there is none, and goes on where it was when one is restarted.

Examples:
  knell events --type session:end --limit 20
  knell events --session build-42
  knell events --since 1h
  knell events --after 1200 --json
  knell events --follow --type session:end

Exit status: 0 done, 1 failed, 2 wrong usage.)";

/// Events that were read, and where to go on.
struct Found {
    std::deque<Json> events;
    std::int64_t next = 0;
};

class Events final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--after", after_, "Only events after this number, the oldest first")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{0}, INT64_MAX));
        app.add_option("--since", since_, "Only events of that time on, such as 1h")
            ->option_text("TIME")
            ->excludes("--after");
        app.add_option("-n,--limit", limit_,
                       "At most so many events (default: 50; with --since 5000)")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{limits::events_page_max}));
        app.add_option("--type", types_, "Only events of this type; may be given again")
            ->option_text("T")
            ->allow_extra_args(false)
            ->check(CLI::IsMember(
                std::vector<std::string>(event_type_names.begin(), event_type_names.end())));
        app.add_option("--session", session_, "Only events of this session")->option_text("ID");
        app.add_flag("-f,--follow", follow_, "Go on with what happens from now on, until Ctrl-C");
        app.add_flag("--json", json_, "Print one event a line, as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (!since_.empty()) {
            within_ = parse_duration(since_, std::chrono::seconds{1});
            if (!within_) {
                complain("events",
                         fmt::format("--since {}: say how long ago, such as 90s, 30m, 2h or 7d\n"
                                     "Try: knell events --help",
                                     since_));
                return exit_usage;
            }
        }
        auto connection = client::connect(context.paths);
        if (follow_) return follow(std::move(connection), context);
        if (!connection) return complain("events", connection.error());
        if (auto named = name_session(*connection); !named) {
            return complain("events", named.error());
        }
        if (auto placed = place_since(*connection); !placed) {
            return complain("events", placed.error());
        }
        const auto found =
            after_ ? read_after(*connection, *after_, INT64_MAX) : newest(*connection);
        if (!found) return complain("events", found.error());
        print_found(*connection, *found, context.output);
        if (after_ && is_more_after(*connection, *found)) {
            note(fmt::format("there are more: repeat the command with --after {}", found->next));
        }
        return exit_done;
    }

  private:
    void print_found(client::Connection& connection, const Found& found,
                     const Terminal& output) const {
        if (json_) {
            for (const auto& event : found.events) print_line(wire::to_text(event));
            return;
        }
        if (found.events.empty()) return note("no events");
        ShortIds names;
        if (output.interactive) add_short_ids(connection, sessions_in(found.events), names);
        const Pager pager(output);
        print(event_table(found.events, output, read_clocks().wall, names));
    }

    /// `--since` is a place in the log: that of the first event of that time, found by halves, as
    /// the log is in the order of its times but for clocks that were set back.
    Result<void> place_since(client::Connection& connection) {
        if (!within_) return {};
        const auto since = read_clocks().wall - *within_;
        const auto status = connection.call_object("node.status", {});
        if (!status) return std::unexpected(status.error());
        const auto* log = wire::object_at(*status, "events");
        // All before `low` are older, none from `high` on is.
        auto low = log == nullptr ? 1 : std::max<std::int64_t>(1, int_at(*log, "first_seq"));
        auto high = log == nullptr ? 1 : int_at(*log, "last_seq") + 1;
        while (low < high) {
            const auto middle = low + (high - low) / 2;
            const auto page =
                connection.call_object("events.read", {{"after", middle - 1}, {"limit", 1}});
            if (!page) return std::unexpected(page.error());
            const auto* events = wire::array_at(*page, "events");
            const auto* event =
                events == nullptr || events->empty() ? nullptr : events->front().if_object();
            const auto time =
                event == nullptr ? std::nullopt : parse_rfc3339(wire::text_at(*event, "time"));
            if (time && *time < since) {
                low = std::max(middle, int_at(*event, "seq")) + 1;
            } else {
                high = middle;
            }
        }
        after_ = low - 1;
        if (limit_ == limit_default) limit_ = limits::events_page_max;
        return {};
    }

    /// The session's whole id takes the place of what was given for it.
    Result<void> name_session(client::Connection& connection) {
        if (session_.empty()) return {};
        auto id = find_id_or_keep(connection, session_);
        if (!id) return std::unexpected(std::move(id.error()));
        session_ = std::move(*id);
        return {};
    }

    bool filtered() const { return !types_.empty() || !session_.empty(); }

    JsonObject filter() const {
        JsonObject params;
        if (!types_.empty()) params["types"] = JsonArray(types_.begin(), types_.end());
        if (!session_.empty()) params["session_id"] = session_;
        return params;
    }

    /// Whoever follows waits: for the first daemon, and for the next when one goes away.
    int follow(Result<client::Connection>&& connection, const Context& context) {
        const EventPrinter printer(json_, context.output);
        printer.print_heading();
        for (;;) {
            auto found = connection ? found_first(*connection)
                                    : Result<Found>{std::unexpected(connection.error())};
            if (found) {
                ShortIds names;
                if (printer.is_for_a_screen()) {
                    add_short_ids(*connection, sessions_in(found->events), names);
                }
                printer.print_events(found->events, names);
                return follow_events(std::move(*connection), {context.paths, filter(), found->next},
                                     printer);
            }
            // That of another home will not go away by itself.
            const bool may_come = found.error().code == ErrorCode::unreachable &&
                                  client::check_home(context.paths).has_value();
            if (!may_come) return complain("events", found.error());
            auto next = wait_for_daemon(context.paths);
            if (!next) return exit_done;
            connection = std::move(*next);
        }
    }

    Result<Found> found_first(client::Connection& connection) {
        if (auto named = name_session(connection); !named) return std::unexpected(named.error());
        if (auto placed = place_since(connection); !placed) {
            return std::unexpected(placed.error());
        }
        if (after_) return Found{.events = {}, .next = *after_};
        return newest(connection);
    }

    /// As many as there are up to the limit and to number `last`: a page ends by bytes too.
    Result<Found> read_after(client::Connection& connection, std::int64_t after,
                             std::int64_t last) const {
        Found found{.events = {}, .next = after};
        for (;;) {
            const auto left = limit_ - static_cast<std::int64_t>(found.events.size());
            if (left <= 0 || found.next >= last) return found;
            const auto page = page_after(connection, found.next, left);
            if (!page) return page;
            if (page->next <= found.next) return found;
            found.next = page->next;
            found.events.insert(found.events.end(), page->events.begin(), page->events.end());
        }
    }

    /// Whether the limit is what ended it.  A filter may find nothing in what is left: that is told
    /// by whoever asks for it.
    bool is_more_after(client::Connection& connection, const Found& found) const {
        if (std::cmp_less(found.events.size(), limit_)) return false;
        const auto page = page_after(connection, found.next, 1);
        return page && page->next > found.next;
    }

    Result<Found> page_after(client::Connection& connection, std::int64_t after,
                             std::int64_t limit) const {
        auto params = filter();
        params["after"] = after;
        params["limit"] = limit;
        const auto result = connection.call_object("events.read", params);
        if (!result) return std::unexpected(result.error());
        Found found{.events = {}, .next = int_at(*result, "next", after)};
        if (const auto* events = wire::array_at(*result, "events")) {
            found.events.assign(events->begin(), events->end());
        }
        return found;
    }

    /// The log is read forwards.  Without a filter the place of the newest is known; with one, all
    /// of it is walked and only the last few are kept.
    Result<Found> newest(client::Connection& connection) const {
        const auto status = connection.call_object("node.status", {});
        if (!status) return std::unexpected(status.error());
        const auto* log = wire::object_at(*status, "events");
        const auto last = log == nullptr ? 0 : int_at(*log, "last_seq");
        if (!filtered()) {
            return read_after(connection, std::max<std::int64_t>(0, last - limit_), last);
        }

        Found kept;
        while (kept.next < last) {
            const auto page = page_after(connection, kept.next, limits::events_page_max);
            if (!page) return std::unexpected(page.error());
            if (page->next <= kept.next) break;
            kept.next = page->next;
            kept.events.insert(kept.events.end(), page->events.begin(), page->events.end());
            const auto size = static_cast<std::size_t>(limit_);
            while (kept.events.size() > size) kept.events.pop_front();
        }
        return kept;
    }

    std::optional<std::int64_t> after_;
    std::string since_;
    std::optional<std::chrono::seconds> within_;
    std::int64_t limit_ = limit_default;
    std::vector<std::string> types_;
    std::string session_;
    bool follow_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events() {
    return std::make_unique<Events>();
}

}  // namespace knell::cli
