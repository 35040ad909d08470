#include "daemon/hooks_json.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "wire/session_json.hpp"

namespace knell {

namespace {

std::string_view state_of(const SubscriberReport& report) {
    if (report.absent) return "absent";
    if (report.subscription.state == SubscriberState::active && report.failing) return "failing";
    return name_in(subscriber_state_names, report.subscription.state);
}

JsonArray names_of(const EventFilter& filter) {
    JsonArray names;
    for (const auto type : filter.types()) names.emplace_back(name_in(event_type_names, type));
    return names;
}

JsonArray texts(const std::vector<std::string>& lines) {
    return JsonArray(lines.begin(), lines.end());
}

/// A manifest may hold a megabyte of prose; an answer holds every hook.
std::string shortened(std::string text) {
    if (text.size() <= limits::description_bytes_max) return text;
    text.resize(limits::description_bytes_max);
    while (!is_utf8(text)) text.pop_back();
    return text + "...";
}

void put_spec(JsonObject& object, const std::string& name,
              const SubscriberConfig& subscriber_config) {
    if (const auto* hook = subscriber_config.hook(name)) {
        object["kind"] = "hook";
        object["description"] = shortened(hook->description);
        object["directory"] = hook->directory;
        object["events"] = names_of(hook->events);
        object["timeout_s"] = hook->timeout.count();
        object["concurrency"] = hook->concurrency;
        if (!hook->remarks.empty()) object["remarks"] = texts(hook->remarks);
    } else if (const auto* webhook = subscriber_config.webhook(name)) {
        object["kind"] = "webhook";
        object["url"] = webhook->url;
        object["events"] = names_of(webhook->events);
        object["timeout_s"] = webhook->timeout.count();
        object["concurrency"] = webhook->concurrency;
        if (!webhook->remarks.empty()) object["remarks"] = texts(webhook->remarks);
    }
}

JsonObject to_json(const SubscriberReport& report, const SubscriberConfig& subscriber_config,
                   Now now) {
    const auto& row = report.subscription;
    JsonObject object;
    object["name"] = row.name;
    put_spec(object, row.name, subscriber_config);
    object["state"] = state_of(report);
    object["since"] = format_rfc3339(row.since);
    object["cursor"] = row.cursor;
    object["lag"] = report.lag;
    object["delivered"] = row.delivered;
    object["failures"] = row.failures;
    object["under_way"] = report.under_way;
    object["waiting"] = report.waiting;
    object["dead"] = report.dead;
    object["lost"] = row.lost;
    if (row.last_delivery_at) object["last_delivery_at"] = format_rfc3339(*row.last_delivery_at);
    if (row.last_failure_at) object["last_failure_at"] = format_rfc3339(*row.last_failure_at);
    if (!row.last_error.empty()) object["last_error"] = row.last_error;
    if (report.next_try_in) {
        object["next_try_at"] = format_rfc3339(now.wall + *report.next_try_in);
    }
    return object;
}

}  // namespace

Json hooks_to_json(const std::vector<SubscriberReport>& reports,
                   const SubscriberConfig& subscriber_config, Now now) {
    JsonArray hooks;
    for (const auto& report : reports) hooks.push_back(to_json(report, subscriber_config, now));
    JsonArray problems;
    std::size_t bytes = 0;
    for (const auto& problem : subscriber_config.problems()) {
        bytes += problem.name.size() + problem.message.size();
        if (bytes > limits::problems_bytes_max) break;
        problems.push_back(JsonObject{{"name", problem.name}, {"message", problem.message}});
    }
    const auto left_out = subscriber_config.problems().size() - problems.size();
    JsonObject result{{"hooks", std::move(hooks)}, {"problems", std::move(problems)}};
    if (left_out > 0) result["problems_left_out"] = left_out;
    return result;
}

Json to_json(const Outcome& outcome, std::chrono::milliseconds took) {
    const bool delivered = outcome.kind == Outcome::Kind::delivered;
    JsonObject object{{"delivered", delivered}, {"took_ms", took.count()}};
    if (!outcome.what.empty()) object["what"] = outcome.what;
    if (!outcome.output.empty()) object["output"] = outcome.output;
    return object;
}

RenderedEvent sample_event(const EventFilter& events, const std::string& node_id,
                           std::uint64_t number, Now now) {
    Event event;
    event.type = EventType::session_end;
    if (!events.wants(event.type) && !events.wants_nothing()) event.type = events.types().front();
    event.time = now.wall;
    if (event.type < EventType::notice) {
        event.session_id = SessionId("knell-hooks-test");
        event.generation = 1;
        event.source = "test";
        event.started_at = now.wall;
    } else {
        event.detail = "a test: nothing happened";
    }
    if (event.type == EventType::session_end) {
        event.end = End{.reason = Reason::completed,
                        .detail = "a test: no session ended",
                        .evidence = "knell hooks test",
                        .ended_at = now.wall,
                        .ended_after = now.wall,
                        .ended_before = now.wall};
    }
    // Never the id of a real event: a receiver that drops duplicates must not drop this.
    const auto id = fmt::format("{}_test_{}_{}", node_id, to_millis(now.wall), number);
    auto object = wire::to_json(event, node_id);
    object["id"] = id;
    object["test"] = true;
    return {.seq = 0,
            .id = id,
            .type = std::string(name_in(event_type_names, event.type)),
            .time = format_rfc3339(event.time),
            .session_id = event.session_id.text(),
            .json = wire::to_text(object)};
}

}  // namespace knell
