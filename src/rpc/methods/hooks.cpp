// hooks.*: hooks and webhooks, and the events that could not be delivered to them yet.

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;
using Verb = HooksCall::Verb;

constexpr Field hook_param{.name = "name",
                           .type = text,
                           .required = true,
                           .max = limits::subscriber_name_bytes_max,
                           .about = "the hook or webhook"};
constexpr Field any_hook_param{.name = "name",
                               .type = text,
                               .max = limits::subscriber_name_bytes_max,
                               .about = "only this hook or webhook; default: all"};
constexpr std::array one_params{hook_param};
constexpr std::array retry_params{any_hook_param};

// --- hooks.list ---------------------------------------------------------------------------------

constexpr std::array kinds{std::string_view{"hook"}, std::string_view{"webhook"}};
constexpr std::array states{std::string_view{"active"}, std::string_view{"failing"},
                            std::string_view{"paused"}, std::string_view{"disabled"},
                            std::string_view{"absent"}};
constexpr Field state_fact{.name = "state",
                           .type = choice,
                           .required = true,
                           .choices = states,
                           .about = "failing: the last attempt failed, and it is tried again"};
constexpr std::array hook_fields{
    always("name", text, "its name"),
    Field{.name = "kind",
          .type = choice,
          .choices = kinds,
          .when = "not absent",
          .about = "a directory in hooks/, or an entry in config.yaml"},
    only("of a hook", "description", text, "what it says of itself"),
    only("of a hook", "directory", text, "where it is"),
    only("of a webhook", "url", text, "where events are sent to"),
    Field{.name = "events",
          .type = array,
          .choices = names_of<EventType>,
          .items = choice,
          .when = "not absent",
          .about = "what it wants to hear"},
    only("not absent", "timeout_s", integer, "how long one attempt may take"),
    only("not absent", "concurrency", integer, "how many attempts are made at once"),
    Field{.name = "remarks",
          .type = array,
          .items = text,
          .when = "there are any",
          .about = "what is odd about it, though it can be used"},
    state_fact,
    always("since", time, "when it came"),
    always("cursor", integer, "the newest event that needs no more looking at"),
    always("lag", integer, "how many events there are after that"),
    always("delivered", integer, "events, so far"),
    always("failures", integer, "attempts that failed, so far"),
    always("under_way", integer, "attempts that are being made"),
    always("waiting", integer, "letters that will be tried again"),
    always("dead", integer, "letters that were given up"),
    always("lost", integer, "events that were no longer kept when their turn came"),
    only("there was one", "last_delivery_at", time, "the last that went well"),
    only("there was one", "last_failure_at", time, "the last that did not"),
    only("there was one", "last_error", text, "what was wrong then"),
    only("something waits", "next_try_at", time, "when it is tried again"),
};
constexpr std::array problem_fields{
    always("name", text, "of the hook or webhook, or of the file"),
    always("message", text, "file, line, what is wrong, what to do"),
};
constexpr std::array list_result{
    always_objects("hooks", hook_fields, "every hook and webhook with the state of its deliveries"),
    always_objects("problems", problem_fields, "what cannot be used"),
    only("there are too many to tell", "problems_left_out", integer, "how many are not told"),
};

/// A manifest may hold a megabyte of prose; an answer holds every hook.
std::string shortened(std::string text) {
    if (text.size() <= limits::description_bytes_max) return text;
    text.resize(limits::description_bytes_max);
    while (!is_utf8(text)) text.pop_back();
    return text + "...";
}

void put(JsonObject& object, const HookSettings& settings) {
    object["kind"] = settings.is_webhook ? "webhook" : "hook";
    if (settings.is_webhook) {
        object["url"] = settings.url;
    } else {
        object["description"] = shortened(settings.description);
        object["directory"] = settings.directory;
    }
    JsonArray events;
    for (const auto type : settings.events) events.emplace_back(name_in(event_type_names, type));
    object["events"] = std::move(events);
    object["timeout_s"] = settings.timeout.count();
    object["concurrency"] = settings.concurrency;
    if (!settings.remarks.empty()) {
        object["remarks"] = JsonArray(settings.remarks.begin(), settings.remarks.end());
    }
}

JsonObject render(const HookReport& report) {
    const auto& row = report.subscription;
    JsonObject object;
    object["name"] = row.name;
    if (report.settings) put(object, *report.settings);
    object["state"] = report.state;
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
    if (report.next_try_at) object["next_try_at"] = format_rfc3339(*report.next_try_at);
    return object;
}

JsonObject render(const HooksReport& report) {
    JsonArray hooks;
    for (const auto& hook : report.hooks) hooks.push_back(render(hook));
    JsonArray problems;
    std::size_t bytes = 0;
    for (const auto& problem : report.problems) {
        bytes += problem.name.size() + problem.message.size();
        if (bytes > limits::problems_bytes_max) break;
        problems.push_back(JsonObject{{"name", problem.name}, {"message", problem.message}});
    }
    const auto left_out = report.problems.size() - problems.size();
    JsonObject result{{"hooks", std::move(hooks)}, {"problems", std::move(problems)}};
    if (left_out > 0) result["problems_left_out"] = left_out;
    return result;
}

// --- what is done to one ------------------------------------------------------------------------

constexpr std::array test_result{
    always("delivered", boolean, "whether it took the event"),
    always("took_ms", integer, "how long that took"),
    only("there is something to say", "what", text, "what went wrong"),
    only("of a hook that wrote some", "output", content, "what it wrote"),
};
constexpr std::array retry_result{
    always("retried", integer, "how many letters are due now"),
};
constexpr std::array state_result{always("name", text, "the hook or webhook"), state_fact};
constexpr std::array forget_result{
    always("name", text, "the hook or webhook"),
    always("forgotten", boolean, "true"),
};

JsonObject render(const HookTestReport& report) {
    JsonObject object{{"delivered", report.delivered}, {"took_ms", report.took.count()}};
    if (!report.what.empty()) object["what"] = report.what;
    if (!report.output.empty()) object["output"] = report.output;
    return object;
}
JsonObject render(const HooksRetried& reply) {
    return {{"retried", reply.deliveries}};
}
JsonObject render(const HookStateReport& reply) {
    return {{"name", reply.name}, {"state", reply.state}};
}
JsonObject render(const HookForgotten& reply) {
    return {{"name", reply.name}, {"forgotten", true}};
}

void ask(Verb verb, std::string name, Call&& call, Backend& backend) {
    backend.hooks({verb, std::move(name)},
                  [respond = std::move(call.respond)](Result<HooksReply> reply) mutable {
                      if (!reply) return respond(std::unexpected(std::move(reply.error())));
                      respond(std::visit([](const auto& known) { return render(known); }, *reply));
                  });
}

template <Verb verb>
void about_one(Call&& call, Backend& backend) {
    auto given = given_of<one_params>(call);
    auto name = given.template get<"name">();
    if (given.error()) return call.respond(given.failure());
    ask(verb, std::move(name), std::move(call), backend);
}

void list(Call&& call, Backend& backend) {
    ask(Verb::list, {}, std::move(call), backend);
}

void retry(Call&& call, Backend& backend) {
    auto given = given_of<retry_params>(call);
    auto name = given.get<"name">();
    if (given.error()) return call.respond(given.failure());
    ask(Verb::retry, std::move(name), std::move(call), backend);
}

constexpr std::array family{
    Method{"hooks.list",
           "hooks and webhooks with the state of their deliveries",
           {},
           list_result,
           list,
           /*is_ordered=*/false,
           Access::read_only},
    Method{"hooks.test", "try one with an event that never happened", one_params, test_result,
           about_one<Verb::test>, /*is_ordered=*/false, Access::processes},
    Method{"hooks.retry", "send what waits or was given up again, now", retry_params, retry_result,
           retry, /*is_ordered=*/false, Access::processes},
    Method{"hooks.pause", "deliver nothing until resumed", one_params, state_result,
           about_one<Verb::pause>, /*is_ordered=*/false, Access::processes},
    Method{"hooks.resume", "go on where it was paused or disabled", one_params, state_result,
           about_one<Verb::resume>, /*is_ordered=*/false, Access::processes},
    Method{"hooks.forget", "drop the cursor and letters of one that is gone", one_params,
           forget_result, about_one<Verb::forget>, /*is_ordered=*/false, Access::processes},
};

}  // namespace

std::span<const Method> hooks_methods() {
    return family;
}

}  // namespace knell::rpc
