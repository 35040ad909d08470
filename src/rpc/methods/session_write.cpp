// session.append, session.close and session.heartbeat: what is said of a session that is open.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/session_params.hpp"
#include "rpc/spooled.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

// --- session.append -----------------------------------------------------------------------------

constexpr std::array message_params{
    Field{.name = "role", .type = word, .required = true, .about = "user, assistant, tool ..."},
    Field{.name = "content", .type = content, .required = true, .about = "any text"},
    Field{.name = "tool_name",
          .type = text,
          .max = limits::word_bytes_max,
          .about = "the tool that wrote it"},
    Field{.name = "tokens",
          .type = integer,
          .max = INT64_C(1) << 48,
          .standard = 0,
          .about = "how many tokens it is"},
};
constexpr std::array append_params{
    session_param,
    generation_param,
    Field{.name = "messages",
          .type = array,
          .required = true,
          .min = 1,
          .max = limits::messages_per_append_max,
          .fields = message_params,
          .unit = "message",
          .about = "[{role, content, tool_name?, tokens?}]"},
    automatic_param,
};
constexpr std::array append_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    always("message_count", integer, "messages on record, with these"),
    always("input_tokens", integer, "tokens that came in, with these"),
    always("output_tokens", integer, "tokens that went out, with these"),
};

JsonObject render(const AppendedReply& reply) {
    return {{"session_id", reply.session_id.text()},
            {"generation", reply.generation},
            {"message_count", reply.tally.messages},
            {"input_tokens", reply.tally.input_tokens},
            {"output_tokens", reply.tally.output_tokens}};
}

void append(Call&& call, Backend& backend) {
    auto given = given_of<append_params>(call);
    Append append;
    append.session_id = given.get<"session_id">();
    append.generation = given.get_as<Generation, "generation">();
    append.is_automatic = given.get<"automatic">();
    if (const auto* messages = given.array<"messages">()) {
        append.messages.reserve(messages->size());
        given.each<"messages", message_params>(*messages, [&append](auto& one) {
            Message message;
            message.role = one.template get<"role">();
            message.content = one.template get<"content">();
            message.tool_name = one.template get<"tool_name">();
            message.tokens = one.template get<"tokens">();
            append.messages.push_back(std::move(message));
        });
    }
    submit(if_good(given, std::move(append)), std::move(call.respond), backend, render);
}

// --- session.close ------------------------------------------------------------------------------

constexpr std::array speaker_params{
    Field{.name = "pid",
          .type = integer,
          .required = true,
          .min = 1,
          .max = INT32_MAX,
          .about = "as the caller counts"},
};
constexpr std::array close_params{
    session_param,
    Field{.name = "generation",
          .type = integer,
          .min = 1,
          .max = UINT32_MAX,
          .about = "refuse as fenced unless this one is open"},
    Field{.name = "reason", .type = word, .about = "default: completed"},
    Field{.name = "detail",
          .type = text,
          .may_be_empty = true,
          .max = limits::detail_bytes_max,
          .about = "free text"},
    Field{.name = "owner",
          .type = object,
          .fields = speaker_params,
          .about = "{pid}: who says so, where that is not the caller itself"},
    Field{.name = "find_leftovers",
          .type = boolean,
          .standard = 0,
          .about = "look for what the command left running first"},
    reaper_param,
};
using GivenClose = wire::Given<close_params>;

Reason read_reason(GivenClose& given) {
    const auto word = given.get<"reason">();
    if (word.empty()) return Reason::completed;
    const auto reason = parse_reason(word);
    if (!reason) {
        given.reject("reason", fmt::format("{} is not a reason", word));
    } else if (row_of(*reason).said_by == SaidBy::daemon) {
        given.reject("reason", fmt::format("{} can only be found by the daemon itself", word));
    }
    return reason.value_or(Reason::completed);
}

/// On whose behalf the caller speaks, by its own word.
std::optional<ProcessIdentity> read_speaker(GivenClose& given, const Caller& caller,
                                            const ProcessTable& processes) {
    auto owner = given.object<"owner", speaker_params>();
    if (!owner) return std::nullopt;
    const auto pid = owner->get_as<pid_t, "pid">();
    if (given.error()) return std::nullopt;
    const auto located =
        processes.locate({pid, caller.pid_namespace(), /*start_ticks=*/0}, caller.pid());
    if (located.kind != Located::Kind::here) return std::nullopt;
    return processes.identify(located.pid);
}

Close read_close(GivenClose& given, const Caller& caller, const Surroundings& here) {
    Close close;
    close.session_id = given.get<"session_id">();
    if (const auto generation = given.get<"generation">()) {
        close.generation = static_cast<Generation>(*generation);
    }
    close.reason = read_reason(given);
    close.detail = given.get<"detail">();
    close.said_by = caller.describe();
    close.caller = caller.process();
    close.spoken_for = read_speaker(given, caller, here.processes());
    return close;
}

void submit_close(Result<Close>&& command, Respond&& respond, Backend& backend) {
    submit(std::move(command), std::move(respond), backend, render_closed);
}

void close_now(Call&& call, Backend& backend) {
    auto given = given_of<close_params>(call);
    auto close = read_close(given, call.caller, backend);
    submit_close(if_good(given, std::move(close)), std::move(call.respond), backend);
}

void close_after_search(Call&& call, CommandEnd&& end, Backend& backend) {
    auto given = given_of<close_params>(call);
    auto close = read_close(given, call.caller, backend);
    close.leftovers = std::move(end.leftovers);
    close.is_over = end.is_over;
    close.by_parent = end.by_parent;
    close.was_searched = end.was_searched;
    submit_close(if_good(given, std::move(close)), std::move(call.respond), backend);
}

/// The wrapper of a command asks for what it left behind to be found before the end is decided.
void close(Call&& call, Backend& backend) {
    auto given = given_of<close_params>(call);
    const bool has_id = given.has<"session_id">();
    const auto id = has_id ? given.get<"session_id">() : SessionId{};
    const bool search = given.get<"find_leftovers">();
    const bool adopts = given.get<"reaper">();
    if (given.error()) return call.respond(given.failure());
    if (!search || id.empty()) return after_a_look(std::move(call), backend, close_now);
    std::optional<ProcessIdentity> reaper;
    if (adopts && backend.processes().is_knell(call.caller.pid())) reaper = call.caller.process();
    const auto caller = call.caller.pid();
    auto held = std::make_shared<Call>(std::move(call));
    held->order.wait(held->place);
    backend.search_leftovers(id, caller, std::move(reaper), [held, &backend](CommandEnd end) {
        held->order.go_on(held->place, [held, &backend, end = std::move(end)]() mutable {
            close_after_search(std::move(*held), std::move(end), backend);
        });
    });
}

// --- session.heartbeat --------------------------------------------------------------------------

constexpr std::array beat_params{session_param, generation_param};
constexpr std::array heartbeat_params{
    Field{.name = "session_id", .type = id, .about = "one session, with generation"},
    Field{.name = "generation",
          .type = integer,
          .min = 1,
          .max = UINT32_MAX,
          .about = "its fencing token"},
    Field{.name = "sessions",
          .type = array,
          .max = limits::heartbeats_per_call_max,
          .fields = beat_params,
          .unit = "session",
          .about = "or many: [{session_id, generation}]"},
};
constexpr std::array heartbeat_result{
    always_list("renewed", id, "open, and their generation was given"),
    always_list("fenced", id, "open under a later generation"),
    always_list("ended", id, "not open: ended, or never there"),
};

JsonArray render(const std::vector<SessionId>& sessions) {
    JsonArray array;
    array.reserve(sessions.size());
    for (const auto& id : sessions) array.emplace_back(id.text());
    return array;
}

JsonObject render(const HeartbeatReply& reply) {
    return {{"renewed", render(reply.renewed)},
            {"fenced", render(reply.fenced)},
            {"ended", render(reply.ended)}};
}

void heartbeat(Call&& call, Backend& backend) {
    auto given = given_of<heartbeat_params>(call);
    Heartbeat heartbeat;
    if (const auto* sessions = given.array<"sessions">()) {
        heartbeat.beats.reserve(sessions->size());
        given.each<"sessions", beat_params>(*sessions, [&heartbeat](auto& one) {
            heartbeat.beats.push_back({one.template get<"session_id">(),
                                       one.template get_as<Generation, "generation">()});
        });
    } else {
        if (!given.has<"session_id">()) given.reject("session_id", "is required");
        auto id = given.get<"session_id">();
        if (!given.has<"generation">()) given.reject("generation", "is required");
        const auto generation = given.get<"generation">().value_or(0);
        heartbeat.beats.push_back({std::move(id), static_cast<Generation>(generation)});
    }
    submit(if_good(given, std::move(heartbeat)), std::move(call.respond), backend, render);
}

constexpr std::array family{
    Method{"session.append", "add messages", append_params, append_result, append,
           /*is_ordered=*/true},
    Method{"session.close", "end a session; twice is not an error", close_params, closed_result,
           close},
    // Not ordered: a sign of life counts when it comes, and must not be late for its lease.
    Method{"session.heartbeat", "signs of life: renew leases", heartbeat_params, heartbeat_result,
           heartbeat},
};

}  // namespace

std::span<const Method> session_write_methods() {
    return family;
}

Result<Command> read_spooled_close(const JsonObject& params, WallTime at, Surroundings& here) {
    GivenClose given(params);
    auto close = read_close(given, Caller{Spooled{}}, here);
    close.at = at;
    return if_good(given, std::move(close));
}

}  // namespace knell::rpc
