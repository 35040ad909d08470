#include <algorithm>
#include <deque>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/relative_time.hpp"
#include "cli/session_rows.hpp"
#include "cli/table.hpp"
#include "client/connection.hpp"
#include "core/event.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr std::int64_t limit_default = 50;

constexpr auto footer = R"(
Without --after the newest events are shown. Every event has a number that rises by one; give the
last one you saw to --after to get what follows.

Examples:
  knell events --type session:end --limit 20
  knell events --session build-42
  knell events --after 1200 --json

Exit status: 0 done, 1 failed, 2 wrong usage.)";

std::string what_happened(const JsonObject& event) {
    const auto reason = text_at(event, "reason");
    const auto detail = text_at(event, "detail");
    std::string text(reason.empty() ? text_at(event, "source") : reason);
    if (const auto proof = text_at(event, "proof"); !proof.empty()) {
        text += fmt::format(" ({})", proof);
    }
    if (!detail.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", detail);
    if (const auto* leftovers = wire::array_at(event, "leftovers")) {
        text += fmt::format("; {} left running", leftovers->size());
    }
    return text;
}

/// A person wants to know how long ago, a file when.
std::string time_text(const JsonObject& event, const Terminal& terminal, WallTime now) {
    const auto time = text_at(event, "time");
    return terminal.interactive ? relative_time(time, now) : std::string(time);
}

std::string table_of(const std::deque<Json>& events, const Terminal& terminal) {
    const auto now = read_clocks().wall;
    Table table({{.title = "SEQ", .align = Align::right},
                 {.title = "TIME", .drop_order = 2},
                 {.title = "TYPE"},
                 {.title = "SESSION"},
                 {.title = "GEN", .align = Align::right, .drop_order = 1},
                 {.title = "WHAT", .shrink_to = 24}});
    for (const auto& event : events) {
        const auto* object = event.if_object();
        if (object == nullptr) continue;
        const auto generation = int_at(*object, "generation");
        table.add({{fmt::format("{}", int_at(*object, "seq"))},
                   {time_text(*object, terminal, now), Tone::faint},
                   {std::string(text_at(*object, "type"))},
                   {std::string(text_at(*object, "session_id"))},
                   {generation == 0 ? "" : fmt::format("{}", generation)},
                   {what_happened(*object), tone_of_end(*object)}});
    }
    return table.render(terminal);
}

class Events final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("--after", after_, "Only events after this number, the oldest first")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{0}, INT64_MAX));
        app.add_option("--limit", limit_, "How many at most; 50 unless told otherwise")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{limits::events_page_max}));
        app.add_option("--type", types_, "Only events of this type; may be given again")
            ->option_text("T")
            ->allow_extra_args(false)
            ->check(CLI::IsMember(
                std::vector<std::string>(event_type_names.begin(), event_type_names.end())));
        app.add_option("--session", session_, "Only events of this session")->option_text("ID");
        app.add_flag("--json", json_, "Print one event a line, as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::Connection::open(context.paths.socket);
        if (!connection) return complain("events", connection.error());
        const auto events = after_ ? page_after(*connection, *after_, limit_) : newest(*connection);
        if (!events) return complain("events", events.error());
        if (json_) {
            for (const auto& event : *events) print_line(wire::to_text(event));
        } else if (events->empty()) {
            note("no events");
        } else {
            print(table_of(*events, context.output));
        }
        return exit_done;
    }

  private:
    bool filtered() const { return !types_.empty() || !session_.empty(); }

    Result<JsonObject> read(client::Connection& connection, std::int64_t after,
                            std::int64_t limit) const {
        JsonObject params{{"after", after}, {"limit", limit}};
        if (!types_.empty()) params["types"] = JsonArray(types_.begin(), types_.end());
        if (!session_.empty()) params["session_id"] = session_;
        return connection.call_object("events.read", params);
    }

    Result<std::deque<Json>> page_after(client::Connection& connection, std::int64_t after,
                                        std::int64_t limit) const {
        const auto result = read(connection, after, limit);
        if (!result) return std::unexpected(result.error());
        const auto* events = wire::array_at(*result, "events");
        if (events == nullptr) return std::deque<Json>{};
        return std::deque<Json>(events->begin(), events->end());
    }

    /// The log is read forwards.  Without a filter the place of the newest is known; with one, all
    /// of it is walked and only the last few are kept.
    Result<std::deque<Json>> newest(client::Connection& connection) const {
        const auto status = connection.call_object("node.status", {});
        if (!status) return std::unexpected(status.error());
        const auto* log = wire::object_at(*status, "events");
        const auto last = log == nullptr ? 0 : int_at(*log, "last_seq");
        if (!filtered()) {
            return page_after(connection, std::max<std::int64_t>(0, last - limit_), limit_);
        }

        std::deque<Json> kept;
        for (std::int64_t after = 0; after < last;) {
            const auto result = read(connection, after, limits::events_page_max);
            if (!result) return std::unexpected(result.error());
            const auto* events = wire::array_at(*result, "events");
            if (events == nullptr || events->empty()) break;
            kept.insert(kept.end(), events->begin(), events->end());
            while (kept.size() > static_cast<std::size_t>(limit_)) kept.pop_front();
            const auto next = int_at(*result, "next");
            if (next <= after) break;
            after = next;
        }
        return kept;
    }

    std::optional<std::int64_t> after_;
    std::int64_t limit_ = limit_default;
    std::vector<std::string> types_;
    std::string session_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events() {
    return std::make_unique<Events>();
}

}  // namespace knell::cli
