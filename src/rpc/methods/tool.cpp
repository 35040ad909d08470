// tool.report and tool.check: how calls of an agent's tools went, and whether one may be made.

#include <algorithm>

#include "core/limits.hpp"
#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/tool_row.hpp"
#include "wire/json_hash.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace tool_rows;

// --- tool.report --------------------------------------------------------------------------------

constexpr Field tool_param{.name = "tool",
                           .type = text,
                           .max = limits::tool_name_bytes_max,
                           .about = "its name, as the agent knows it"};
constexpr Field args_param{
    .name = "args", .type = any, .about = "what it was called with; only a hash of it is kept"};
constexpr Field ok_param{.name = "ok", .type = boolean, .about = "whether the call did its work"};
constexpr Field error_param{
    .name = "error", .type = content, .about = "what the tool said, where it did not"};
constexpr Field result_hash_param{
    .name = "result_hash",
    .type = text,
    .max = limits::tool_result_hash_bytes_max,
    .about = "a hash of what it gave: the same call with another result is no repetition"};
constexpr Field some_session_param{
    .name = "session_id", .type = id, .about = "the session, with generation"};
constexpr Field some_generation_param{.name = "generation",
                                      .type = integer,
                                      .min = 1,
                                      .max = UINT32_MAX,
                                      .about = "its fencing token"};

constexpr Field required(Field field) {
    field.required = true;
    return field;
}
constexpr std::array one_report_params{
    required(tool_param), required(ok_param), error_param,           args_param,
    result_hash_param,    some_session_param, some_generation_param,
};
constexpr std::array report_params{
    some_session_param,
    some_generation_param,
    tool_param,
    ok_param,
    error_param,
    args_param,
    result_hash_param,
    Field{.name = "reports",
          .type = array,
          .min = 1,
          .max = limits::tool_reports_per_call_max,
          .fields = one_report_params,
          .unit = "report",
          .about = "or many, in the order in which they ended; of one session, or each of its own"},
};
constexpr std::array report_result{
    always("recorded", integer, "reports that were counted"),
    Field{.name = "nudge",
          .type = object,
          .fields = nudge_fields,
          .when = "an agent is stuck",
          .about = "what to tell it; the last one of `nudges`"},
    Field{.name = "nudges",
          .type = array,
          .fields = nudge_fields,
          .when = "`reports` was given and an agent is stuck",
          .about = "all of them, in the order of the reports"},
    Field{.name = "fenced",
          .type = array,
          .items = id,
          .when = "reports of many sessions were given",
          .about = "open under a later generation, or without an owner: not counted"},
    Field{.name = "ended",
          .type = array,
          .items = id,
          .when = "reports of many sessions were given",
          .about = "not open: ended, or never there"},
};

template <typename GivenReport>
ToolReport read_report(GivenReport& given) {
    ToolReport report;
    report.call.tool = given.template get<"tool">();
    if (const auto* args = given.template any<"args">()) report.call.args = wire::hash_of(*args);
    report.error = given.template get<"error">();
    if (const auto hash = given.template get<"result_hash">(); !hash.empty()) {
        report.result = CallHash().add(hash).value();
    }
    return report;
}

/// What names no session is of the session of the call.
void read_many(wire::Given<report_params>& given, const JsonArray& reports, ReportTools& command) {
    command.reports.reserve(reports.size());
    given.each<"reports", one_report_params>(reports, [&](auto& one) {
        auto report = read_report(one);
        report.ok = one.template get<"ok">();
        auto session = one.template get<"session_id">();
        auto generation = one.template get<"generation">();
        if (session.empty()) {
            session = command.session_id;
            if (!generation) generation = command.generation;
        }
        if (session.empty()) one.reject("session_id", "is required where the call names none");
        if (generation.value_or(0) == 0) one.reject("generation", "is required");
        command.reports.push_back({std::move(report), std::move(session),
                                   static_cast<Generation>(generation.value_or(0))});
    });
}

/// All of one session: then a refusal is the answer, and not one list among others.
void name_the_session(ReportTools& command) {
    if (command.reports.empty()) return;
    const auto& first = command.reports.front();
    const bool is_one = std::ranges::all_of(command.reports, [&](const auto& one) {
        return one.session_id == first.session_id && one.generation == first.generation;
    });
    command.session_id = is_one ? first.session_id : SessionId{};
    command.generation = is_one ? first.generation : 0;
}

JsonArray render(const std::vector<SessionId>& sessions) {
    JsonArray array;
    array.reserve(sessions.size());
    for (const auto& id : sessions) array.emplace_back(id.text());
    return array;
}

JsonObject render_one(const ToolsReportedReply& reply) {
    JsonObject object{{"recorded", reply.recorded}};
    if (!reply.nudges.empty()) object["nudge"] = render_nudge(reply.nudges.back());
    return object;
}

JsonObject render_some(const ToolsReportedReply& reply) {
    auto object = render_one(reply);
    if (reply.nudges.empty()) return object;
    JsonArray nudges;
    nudges.reserve(reply.nudges.size());
    for (const auto& nudge : reply.nudges) nudges.push_back(render_nudge(nudge));
    object["nudges"] = std::move(nudges);
    return object;
}

JsonObject render_of_many(const ToolsReportedReply& reply) {
    auto object = render_some(reply);
    object["fenced"] = render(reply.fenced);
    object["ended"] = render(reply.ended);
    return object;
}

void report(Call&& call, Backend& backend) {
    auto given = given_of<report_params>(call);
    ReportTools command;
    command.session_id = given.get<"session_id">();
    command.generation = static_cast<Generation>(given.get<"generation">().value_or(0));
    auto one = read_report(given);
    one.ok = given.get<"ok">().value_or(true);
    const auto* reports = given.array<"reports">();
    auto* render_reply = render_one;
    if (reports != nullptr) {
        read_many(given, *reports, command);
        name_the_session(command);
        render_reply = command.session_id.empty() ? render_of_many : render_some;
    } else {
        if (!given.has<"session_id">()) given.reject("session_id", "is required");
        if (!given.has<"generation">()) given.reject("generation", "is required");
        if (!given.has<"tool">()) given.reject("tool", "is required, or reports");
        if (!given.has<"ok">()) given.reject("ok", "is required");
        command.reports.push_back({.report = std::move(one)});
    }
    submit(if_good(given, std::move(command)), std::move(call.respond), backend, render_reply);
}

// --- tool.check ---------------------------------------------------------------------------------

constexpr std::array check_params{session_param, generation_param, required(tool_param),
                                  args_param};
constexpr std::array check_result{
    always("allow", boolean, "whether the call may be made"),
    only("it may not", "why", text, "for the agent"),
    only("it may not", "retry_after_s", integer, "in so many seconds it may be asked again"),
};

JsonObject render(const ToolCheckedReply& reply) {
    const auto& permission = reply.permission;
    JsonObject object{{"allow", permission.allow}};
    if (permission.allow) return object;
    object["why"] = permission.why;
    object["retry_after_s"] = permission.retry_after.count();
    return object;
}

void check(Call&& call, Backend& backend) {
    auto given = given_of<check_params>(call);
    CheckTool command;
    command.session_id = given.get<"session_id">();
    command.generation = given.get_as<Generation, "generation">();
    command.call.tool = given.get<"tool">();
    if (const auto* args = given.any<"args">()) command.call.args = wire::hash_of(*args);
    submit(if_good(given, std::move(command)), std::move(call.respond), backend, render);
}

constexpr std::array family{
    Method{"tool.report", "how a call of an agent's tool went; says when the agent is stuck",
           report_params, report_result, report, /*is_ordered=*/true},
    Method{"tool.check", "whether a tool may be called now", check_params, check_result, check,
           /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> tool_methods() {
    return family;
}

}  // namespace knell::rpc
