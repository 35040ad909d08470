#include "client/claude_hook.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/end.hpp"

namespace knell::client {

namespace {

using wire::int_at;
using wire::text_at;

constexpr auto source = "claude-code";

/// Somebody else may be able to take it later.
bool is_for_the_spool(ErrorCode code) {
    switch (code) {
        case ErrorCode::internal:
        case ErrorCode::limit:
        case ErrorCode::storage:
        case ErrorCode::unreachable:
            return true;
        case ErrorCode::unauthorized:
        case ErrorCode::parse_error:
        case ErrorCode::invalid_request:
        case ErrorCode::method_not_found:
        case ErrorCode::invalid_params:
        case ErrorCode::not_found:
        case ErrorCode::owned:
        case ErrorCode::fenced:
        case ErrorCode::blocked:
        case ErrorCode::ended:
            break;
    }
    return false;
}

/// Somebody was quicker, or the session is another's by now: nothing that this hook could mend.
bool is_settled(ErrorCode code) {
    return code == ErrorCode::fenced || code == ErrorCode::ended || code == ErrorCode::not_found ||
           code == ErrorCode::owned || code == ErrorCode::blocked;
}

/// `/clear` begins a new conversation; all else leaves this one.
Reason reason_for(std::string_view word) {
    return word == "clear" ? Reason::manual_reset : Reason::completed;
}

std::string detail_for(std::string_view word) {
    return word.empty() ? std::string("SessionEnd") : fmt::format("SessionEnd: {}", word);
}

}  // namespace

JsonObject ClaudeHook::create_params(const ClaudeEvent& event, JsonObject owner) const {
    owner["command"] = "claude";
    JsonObject params{{"id", event.session.text()}, {"source", source}};
    if (!event.cwd.empty()) params["cwd"] = event.cwd;
    if (!event.title.empty()) params["title"] = event.title;
    if (!event.model.empty()) params["model"] = event.model;
    params["owner"] = std::move(owner);
    return params;
}

Result<std::optional<ClaudeHook::Target>> ClaudeHook::open(const ClaudeEvent& event) {
    const auto agent = around_.agent();
    if (!agent) {
        return fail(ErrorCode::not_found,
                    "cannot tell which process is the agent: CLAUDE_PID is not set, and every "
                    "ancestor is a shell");
    }
    auto params = create_params(event, around_.owner_for_call(*agent));
    auto opened = around_.call("session.create", params);
    if (!opened && opened.error().code == ErrorCode::ended) {
        JsonObject resume{{"session_id", event.session.text()}, {"owner", params["owner"]}};
        for (const auto* name : {"cwd", "title"}) {
            if (const auto* given = params.if_contains(name)) resume[name] = *given;
        }
        opened = around_.call("session.resume", resume);
    }
    // Another hook of this very agent was quicker, or another process has it.
    if (!opened && opened.error().code == ErrorCode::owned) return std::optional<Target>{};
    if (!opened) return std::unexpected(std::move(opened.error()));
    return Target{event.session, static_cast<Generation>(int_at(*opened, "generation")), *agent};
}

Result<std::optional<ClaudeHook::Target>> ClaudeHook::find(const ClaudeEvent& event,
                                                           Unless unless) {
    if (auto run = around_.run()) {
        return Target{std::move(run->session), run->generation, /*owner_pid=*/0};
    }
    const JsonObject which{{"session_id", event.session.text()}};
    for (const bool may_open : {true, false}) {
        const auto shown = around_.call("session.show", which);
        if (!shown && shown.error().code != ErrorCode::not_found) {
            return std::unexpected(shown.error());
        }
        const bool is_open = shown && text_at(*shown, "status") != "ended";
        if (is_open) {
            const auto* owner = wire::object_at(*shown, "owner");
            return Target{event.session, static_cast<Generation>(int_at(*shown, "generation")),
                          owner == nullptr ? 0 : int_at(*owner, "pid")};
        }
        if (!may_open || (shown && unless == Unless::ended)) break;
        auto opened = open(event);
        if (!opened || *opened) return opened;
    }
    return std::optional<Target>{};
}

Result<std::string> ClaudeHook::write_down(const ClaudeEvent& event, bool is_end) {
    const auto agent = around_.agent();
    if (!agent) return {};  // nobody could tell later whose session it was
    const auto now = around_.now();
    std::vector<SpoolRecord> records;
    // An end stands behind the start of the same owner: it shows whose session is meant.
    records.push_back(
        {now, "session.create", create_params(event, around_.owner_for_spool(*agent))});
    if (is_end) {
        records.push_back({now, "session.close",
                           JsonObject{{"session_id", event.session.text()},
                                      {"reason", name_of(reason_for(event.word))},
                                      {"detail", detail_for(event.word)}}});
    }
    auto kept = around_.spool(event.session, records);
    if (!kept) return std::unexpected(std::move(kept.error()));
    return {};
}

Result<std::string> ClaudeHook::start(const ClaudeEvent& event) {
    if (around_.run()) return {};  // `knell run` keeps that record
    auto opened = open(event);
    if (opened) return {};
    if (is_for_the_spool(opened.error().code)) return write_down(event, /*is_end=*/false);
    return std::unexpected(std::move(opened.error()));
}

Result<std::string> ClaudeHook::end(const ClaudeEvent& event) {
    // How the command of `knell run` ends that one sees for itself; the turn is over either way.
    if (around_.run()) return turn(event, "turn.end");
    auto target = find(event, Unless::ended);
    if (!target && is_for_the_spool(target.error().code)) return write_down(event, /*is_end=*/true);
    if (!target) return std::unexpected(std::move(target.error()));
    if (!*target) return {};
    // Two processes may have one conversation open: it ends with the one that is on record.
    const auto agent = around_.agent();
    const auto owner = (*target)->owner_pid;
    if (agent && owner != 0 && owner != *agent) return {};
    const auto closed = around_.call("session.close", {{"session_id", (*target)->session.text()},
                                                       {"generation", (*target)->generation},
                                                       {"reason", name_of(reason_for(event.word))},
                                                       {"detail", detail_for(event.word)}});
    if (closed || is_settled(closed.error().code)) return {};
    if (is_for_the_spool(closed.error().code)) return write_down(event, /*is_end=*/true);
    return std::unexpected(closed.error());
}

Result<std::string> ClaudeHook::turn(const ClaudeEvent& event, std::string_view method) {
    const bool is_start = method == "turn.start";
    // A person who writes goes on with the conversation, also where it had ended.
    auto target = find(event, is_start ? Unless::never : Unless::ended);
    if (!target) return std::unexpected(std::move(target.error()));
    if (!*target) return {};
    const auto told = around_.call(
        method, {{"session_id", (*target)->session.text()}, {"generation", (*target)->generation}});
    if (told || is_settled(told.error().code)) return {};
    return std::unexpected(told.error());
}

Result<std::string> ClaudeHook::report(const ClaudeEvent& event) {
    if (event.is_interrupted) return {};
    const auto target = find(event, Unless::ended);
    if (!target) return std::unexpected(target.error());
    if (!*target) return {};
    const bool ok = event.kind == ClaudeEvent::Kind::tool_succeeded;
    JsonObject params{{"session_id", (*target)->session.text()},
                      {"generation", (*target)->generation},
                      {"tool", event.tool},
                      {"ok", ok}};
    if (!ok) params["error"] = event.error;
    if (!event.args.empty()) params["args"] = event.args;
    if (ok && !event.result.empty()) params["result_hash"] = event.result;
    const auto told = around_.call("tool.report", params);
    if (!told && is_settled(told.error().code)) return {};
    if (!told) return std::unexpected(told.error());
    const auto* nudge = wire::object_at(*told, "nudge");
    return nudge == nullptr ? std::string{} : claude_context(event, text_at(*nudge, "text"));
}

Result<std::string> ClaudeHook::check(const ClaudeEvent& event) {
    const auto target = find(event, Unless::ended);
    if (!target) return std::unexpected(target.error());
    if (!*target) return {};
    JsonObject params{{"session_id", (*target)->session.text()},
                      {"generation", (*target)->generation},
                      {"tool", event.tool}};
    if (!event.args.empty()) params["args"] = event.args;
    const auto told = around_.call("tool.check", params);
    if (!told && is_settled(told.error().code)) return {};
    if (!told) return std::unexpected(told.error());
    const auto* allow = told->if_contains("allow");
    const bool is_refused = allow != nullptr && allow->is_bool() && !allow->get_bool();
    return is_refused ? claude_refusal(text_at(*told, "why")) : std::string{};
}

Result<std::string> ClaudeHook::handle(const ClaudeEvent& event) {
    switch (event.kind) {
        case ClaudeEvent::Kind::session_start:
            return start(event);
        case ClaudeEvent::Kind::session_end:
            return end(event);
        case ClaudeEvent::Kind::prompt:
            return turn(event, "turn.start");
        case ClaudeEvent::Kind::stop:
            return turn(event, "turn.end");
        case ClaudeEvent::Kind::before_tool:
            return check(event);
        case ClaudeEvent::Kind::tool_succeeded:
        case ClaudeEvent::Kind::tool_failed:
            return report(event);
        case ClaudeEvent::Kind::other:
            break;
    }
    return {};
}

}  // namespace knell::client
