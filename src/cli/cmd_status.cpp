#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/relative_time.hpp"
#include "cli/table.hpp"
#include "client/connection.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr auto footer = R"(
Examples:
  knell status
  knell status --json | jq .sessions.open

Exit status: 0 a daemon answers, 1 none does, 2 wrong usage.)";

std::string format_bytes(std::int64_t bytes) {
    static constexpr std::array units{"kB", "MB", "GB", "TB"};
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    auto amount = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    for (; amount >= 999.95 && unit + 1 < units.size(); ++unit) amount /= 1000;
    return fmt::format("{:.1f} {}", amount, units[unit]);
}

/// A field that an older or newer daemon does not tell is left out, not shown as nought.
std::string describe(const JsonObject& status, std::string_view part,
                     std::string (*text)(const JsonObject&)) {
    const auto* object = wire::object_at(status, part);
    return object == nullptr ? std::string{} : text(*object);
}

std::string store_text(const JsonObject& store) {
    return fmt::format("{} {} {} ({}, schema {})", text_at(store, "kind"),
                       text_at(store, "sqlite_version"), text_at(store, "path"),
                       format_bytes(int_at(store, "bytes")), int_at(store, "schema"));
}

std::string sessions_text(const JsonObject& sessions) {
    return fmt::format("{} open: {} running, {} idle", int_at(sessions, "open"),
                       int_at(sessions, "running"), int_at(sessions, "idle"));
}

std::string events_text(const JsonObject& events) {
    return fmt::format("{} so far", int_at(events, "last_seq"));
}

std::string journal_text(const JsonObject& journal) {
    return fmt::format("{} commands in {} commits; {} of {} queued", int_at(journal, "commands"),
                       int_at(journal, "commits"), int_at(journal, "queued"),
                       int_at(journal, "queued_max"));
}

std::string connections_text(const JsonObject& connections) {
    return fmt::format("{} of {}", int_at(connections, "open"), int_at(connections, "max"));
}

std::string uptime_text(const JsonObject& status) {
    if (!status.contains("uptime_s")) return std::string(text_at(status, "started_at"));
    return fmt::format("{}, since {}",
                       format_duration(std::chrono::seconds{int_at(status, "uptime_s")}),
                       text_at(status, "started_at"));
}

std::string status_text(const JsonObject& status, const Terminal& terminal) {
    const std::vector<Fact> facts{
        {"version", fmt::format("{} ({})", text_at(status, "version"), text_at(status, "commit"))},
        {"pid", fmt::format("{}", int_at(status, "pid"))},
        {"up", uptime_text(status)},
        {"host", std::string(text_at(status, "host"))},
        {"node", std::string(text_at(status, "node_id"))},
        {"home", std::string(text_at(status, "home"))},
        {"socket", std::string(text_at(status, "socket"))},
        {"store", describe(status, "store", store_text)},
        {"sessions", describe(status, "sessions", sessions_text)},
        {"events", describe(status, "events", events_text)},
        {"journal", describe(status, "journal", journal_text)},
        {"connections", describe(status, "connections", connections_text)},
    };
    return render_facts(facts, terminal);
}

class ShowStatus final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::Connection::open(context.paths.socket);
        if (!connection) return complain("status", connection.error());
        const auto status = connection->call_object("node.status", {});
        if (!status) return complain("status", status.error());
        if (json_) {
            print_json(*status);
        } else {
            print(status_text(*status, context.output));
        }
        return exit_done;
    }

  private:
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_status() {
    return std::make_unique<ShowStatus>();
}

}  // namespace knell::cli
