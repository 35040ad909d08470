#include "daemon/hooks_report.hpp"

#include <fmt/format.h>

#include "wire/event_text.hpp"

namespace knell {

namespace {

std::string_view state_of(const SubscriberReport& report) {
    if (report.absent) return "absent";
    if (report.subscription.state == SubscriberState::active && report.failing) return "failing";
    return name_in(subscriber_state_names, report.subscription.state);
}

std::optional<rpc::HookSettings> settings_of(const std::string& name,
                                             const SubscriberConfig& subscriber_config) {
    if (const auto* hook = subscriber_config.hook(name)) {
        return rpc::HookSettings{.description = hook->description,
                                 .directory = hook->directory,
                                 .events = hook->events.types(),
                                 .timeout = hook->timeout,
                                 .concurrency = hook->concurrency,
                                 .remarks = hook->remarks};
    }
    if (const auto* webhook = subscriber_config.webhook(name)) {
        return rpc::HookSettings{.is_webhook = true,
                                 .url = webhook->url,
                                 .events = webhook->events.types(),
                                 .timeout = webhook->timeout,
                                 .concurrency = webhook->concurrency,
                                 .remarks = webhook->remarks};
    }
    return std::nullopt;
}

}  // namespace

rpc::HooksReport report_hooks(const std::vector<SubscriberReport>& reports,
                              const SubscriberConfig& subscriber_config, Now now) {
    rpc::HooksReport all;
    for (const auto& report : reports) {
        rpc::HookReport hook{.subscription = report.subscription,
                             .settings = settings_of(report.subscription.name, subscriber_config),
                             .state = std::string(state_of(report)),
                             .lag = report.lag,
                             .under_way = report.under_way,
                             .waiting = report.waiting,
                             .dead = report.dead};
        if (report.next_try_in) hook.next_try_at = now.wall + *report.next_try_in;
        all.hooks.push_back(std::move(hook));
    }
    for (const auto& problem : subscriber_config.problems()) {
        all.problems.push_back({problem.name, problem.message});
    }
    return all;
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
    return {.seq = 0,
            .id = id,
            .type = std::string(name_in(event_type_names, event.type)),
            .time = format_rfc3339(event.time),
            .session_id = event.session_id.text(),
            .json = wire::test_event_text(event, node_id, id)};
}

}  // namespace knell
