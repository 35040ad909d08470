#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/blocker_rows.hpp"
#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/leftover_rows.hpp"
#include "cli/lineage.hpp"
#include "cli/output.hpp"
#include "cli/pager.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_name.hpp"
#include "cli/session_rows.hpp"
#include "cli/session_sentence.hpp"
#include "cli/text_width.hpp"
#include "client/connect.hpp"
#include "core/limits.hpp"
#include "platform/environment.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr auto footer = R"(
Below its facts: the sessions it came out of and those that went on in its place, by which policy it
is reset and when, and what holds that back.

Examples:
  knell show 0190b2f0-6a1e-7abc-8def-0123456789ab
  knell show build-42 --messages 20
  knell show build-42 --json | jq .owner

Exit status: 0 done, 1 there is no such session, or no daemon, 2 wrong usage.)";

std::string text_of(const JsonObject& object, std::string_view name) {
    return std::string(text_at(object, name));
}

std::string parent_text(const JsonObject& session) {
    const auto parent = text_at(session, "parent_id");
    const auto relation = text_at(session, "relation");
    return relation.empty() ? std::string(parent) : fmt::format("{} ({})", parent, relation);
}

std::string count_text(const JsonObject& session) {
    if (!session.contains("message_count")) return {};
    return fmt::format("{} ({} tokens in, {} out)", int_at(session, "message_count"),
                       int_at(session, "input_tokens"), int_at(session, "output_tokens"));
}

std::string suspended_text(const JsonObject& session, const ShownTime& shown) {
    const auto* suspended = wire::object_at(session, "suspended");
    if (suspended == nullptr) return {};
    const auto why = text_at(*suspended, "why");
    return fmt::format("since {}{}{}", time_of(*suspended, "since", shown), why.empty() ? "" : ": ",
                       why);
}

/// Unless the title says it.
std::string command_text(const JsonObject& session) {
    const auto* owner = wire::object_at(session, "owner");
    const auto command = owner == nullptr ? std::string_view{} : text_at(*owner, "command");
    return command == text_at(session, "title") ? std::string{} : std::string(command);
}

std::vector<Fact> facts_of(const JsonObject& session, const ShownTime& shown) {
    const auto status = text_at(session, "status");
    const auto* meta = session.if_contains("meta");
    const bool has_meta = meta != nullptr && !meta->is_null();
    const auto attached = int_at(session, "attached");
    return {{"id", text_of(session, "id")},
            {"status", std::string(status), tone_of_status(status)},
            {"title", text_of(session, "title")},
            {"command", command_text(session)},
            {"source", text_of(session, "source")},
            {"key", text_of(session, "key")},
            {"platform", text_of(session, "platform")},
            {"chat type", text_of(session, "chat_type")},
            {"user", text_of(session, "user_id")},
            {"model", text_of(session, "model")},
            {"directory", text_of(session, "cwd")},
            {"parent", parent_text(session)},
            {"generation", fmt::format("{}", int_at(session, "generation"))},
            {"started", time_of(session, "started_at", shown)},
            {"last activity", time_of(session, "last_activity_at", shown)},
            {"last interaction", time_of(session, "last_interaction_at", shown)},
            {"suspended", suspended_text(session, shown), Tone::warning},
            {"turn since", time_of(session, "turn_since", shown)},
            {"unknown since", time_of(session, "unknown_since", shown), Tone::warning},
            {"stalled since", time_of(session, "stalled_since", shown), Tone::warning},
            {"parked since", time_of(session, "parked_since", shown), Tone::warning},
            {"how its owner went", text_of(session, "park_why")},
            {"detached since", time_of(session, "detached_since", shown)},
            {"ended", time_of(session, "ended_at", shown)},
            {"", bounds_text(session, shown.zone)},
            {"reason", end_text(session), tone_of_end(session)},
            {"evidence", text_of(session, "evidence")},
            {"owner", owner_text(session, shown)},
            {"when it is lost", owner_loss_text(session)},
            {"messages", count_text(session)},
            {"attached", attached == 0 ? "" : fmt::format("{} clients", attached)},
            {"pinned", wire::bool_at(session, "pinned") ? "yes" : ""},
            {"summary", wire::bool_at(session, "summary_lost") ? "lost" : "", Tone::warning},
            {"meta", has_meta ? wire::to_text(*meta) : ""}};
}

std::string message_text(const JsonObject& message, const Terminal& terminal) {
    auto head = one_line(text_at(message, "role"));
    if (const auto tool = text_at(message, "tool_name"); !tool.empty()) {
        head += fmt::format(" {}", one_line(tool));
    }
    if (message.contains("tokens")) head += fmt::format(" ({} tokens)", int_at(message, "tokens"));
    return fmt::format("\n{}\n{}\n", toned(head, Tone::heading, terminal),
                       many_lines(text_at(message, "content")));
}

std::string section(std::string_view title, const std::string& body, const Terminal& terminal) {
    return body.empty() ? body
                        : fmt::format("\n{}\n{}", toned(title, Tone::heading, terminal), body);
}

std::string reset_text(const JsonObject& session, const ShownTime& shown,
                       const Terminal& terminal) {
    const auto* reset = wire::object_at(session, "reset");
    if (reset == nullptr) return {};
    const auto kind = text_at(*reset, "kind");
    const auto* held = wire::object_at(*reset, "held");
    const auto* blockers = held == nullptr ? nullptr : wire::array_at(*held, "blockers");
    auto text = render_facts(
        {{"policy", fmt::format("{} (mode {}, on_reset {})", text_at(*reset, "policy"),
                                text_at(*reset, "mode"), text_at(*reset, "on_reset"))},
         {"next", time_of(*reset, "next_reset_at", shown) +
                      (kind.empty() ? "" : fmt::format(", {}", kind))},
         {"waits for a turn, on since", time_of(*reset, "waits_for_turn_since", shown),
          Tone::warning},
         {"held back since", held == nullptr ? "" : time_of(*held, "since", shown), Tone::warning},
         {"until", held == nullptr ? "" : time_of(*held, "until", shown)}},
        terminal);
    if (blockers != nullptr) text += blocker_table(*blockers, shown.now).render(terminal);
    return text;
}

class Show final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ID", id_, "The session: its id, a beginning of it, @last or @N")
            ->required();
        app.add_option("--messages", messages_, "Also its last N messages")
            ->option_text("N")
            ->check(CLI::Range(1, static_cast<int>(limits::show_messages_max)));
        app.add_flag("--utc", utc_, "Times in UTC instead of the time zone of this machine");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("show", connection.error());
        const auto id = find_id(*connection, id_);
        if (!id) return complain("show", id.error());
        JsonObject params{{"session_id", *id}};
        if (messages_ > 0) params["messages"] = messages_;
        auto session = connection->call_object("session.show", params);
        if (session) session = add_older(*connection, std::move(params), std::move(*session));
        if (!session) return complain("show", session.error());
        if (json_) {
            print_json(*session);
            return exit_done;
        }
        const auto lineage = read_lineage(*connection, *session);
        if (!lineage) return complain("show", lineage.error());
        const Pager pager(context.output);
        print_all(*session, *lineage, context.output);
        return exit_done;
    }

  private:
    void print_all(const JsonObject& session, const Lineage& lineage,
                   const Terminal& output) const {
        const auto shown = shown_time(utc_);
        const auto sentence = session_sentence(session, environment_variable("HOME"), shown.now);
        print_line(toned(wrap(sentence, {.width = output.width}), Tone::heading, output) + "\n");
        print(render_facts(facts_of(session, shown), output));
        print(section("Lineage", lineage_text(lineage, output, shown.now), output));
        print(section("Reset", reset_text(session, shown, output), output));
        if (const auto* leftovers = wire::array_at(session, "leftovers")) {
            print(section("Left behind when it ended", leftovers_text(*leftovers, output), output));
        }
        const auto* messages = wire::array_at(session, "messages");
        if (messages == nullptr) return;
        for (const auto& message : *messages) {
            if (const auto* object = message.if_object()) print(message_text(*object, output));
        }
    }

    /// A page ends by bytes too: asks on until there are as many messages as were asked for.
    Result<JsonObject> add_older(client::Connection& connection, JsonObject params,
                                 JsonObject session) const {
        while (messages_ > 0) {
            const auto* newer = wire::array_at(session, "messages");
            const auto next = int_at(session, "messages_next");
            const auto left = messages_ - static_cast<std::int64_t>(newer ? newer->size() : 0);
            if (newer == nullptr || next == 0 || left <= 0) break;
            params["before"] = next;
            params["messages"] = left;
            auto older = connection.call_object("session.show", params);
            if (!older) return older;
            const auto* found = wire::array_at(*older, "messages");
            if (found == nullptr || found->empty()) break;
            auto all = *found;
            all.insert(all.end(), newer->begin(), newer->end());
            session["messages"] = std::move(all);
            session.erase("messages_next");
            if (const auto* further = older->if_contains("messages_next")) {
                session["messages_next"] = *further;
            }
        }
        return session;
    }

    std::string id_;
    int messages_ = 0;
    bool utc_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show() {
    return std::make_unique<Show>();
}

}  // namespace knell::cli
