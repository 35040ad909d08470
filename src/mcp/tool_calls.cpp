#include "mcp/tool_calls.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "client/harmless_text.hpp"
#include "client/process_words.hpp"
#include "mcp/own_session.hpp"
#include "mcp/process_text.hpp"
#include "wire/error_table.hpp"

namespace knell::mcp {

namespace {

using wire::text_at;

/// What a model can read in one go; more is to be asked for.
constexpr std::int64_t output_bytes_default = 16'384;

/// Titles, commands and names are of programs nobody has vouched for, and may be shown to a person;
/// only what a process wrote is handed on as it is.
Result<JsonObject> cleaned(Result<JsonObject> result) {
    if (!result) return result;
    Json value(std::move(*result));
    client::make_harmless(value, /*but_for=*/"output");
    return std::move(value.get_object());
}

Result<JsonObject> ask(Surroundings& surroundings, std::string_view method,
                       const JsonObject& params) {
    return cleaned(surroundings.call(method, params));
}

ToolResult refused(const Error& error) {
    Json content(JsonObject{{"error", wire::to_json(error)}});
    client::make_harmless(content, /*but_for=*/"");
    return {.texts = {client::harmless(error.message)},
            .content = std::move(content.get_object()),
            .is_error = true};
}

/// Copies what was given; null counts as left out.
void pass_on(const JsonObject& from, JsonObject& to, std::initializer_list<const char*> names) {
    for (const auto* name : names) {
        const auto* value = from.if_contains(name);
        if (value != nullptr && !value->is_null()) to[name] = *value;
    }
}

/// The session that was given, or the agent's own.
Result<std::string> session_for(const JsonObject& arguments, Surroundings& surroundings) {
    if (const auto given = text_at(arguments, "session_id"); !given.empty()) {
        return std::string(given);
    }
    return find_own_session(surroundings);
}

ToolResult session_status(const JsonObject& arguments, Surroundings& surroundings) {
    const auto session_id = session_for(arguments, surroundings);
    if (!session_id) return refused(session_id.error());
    auto session = ask(surroundings, "session.show", {{"session_id", *session_id}});
    if (!session) return refused(session.error());
    auto list = ask(surroundings, "process.list", {{"session_id", *session_id}});
    if (!list) return refused(list.error());
    JsonObject content{{"session", *session}};
    for (auto& pair : *list) content[pair.key()] = pair.value();
    return {.texts = {status_text(*session, *list)}, .content = std::move(content)};
}

/// The key of its conversation, as it is; "" when it has none, or is not on record.
std::string key_of(const std::string& session_id, Surroundings& surroundings) {
    const auto session = surroundings.call("session.show", {{"session_id", session_id}});
    return session ? std::string(text_at(*session, "key")) : "";
}

ToolResult process_list(const JsonObject& arguments, Surroundings& surroundings) {
    JsonObject params;
    std::string of_whom = "on this machine";
    if (!wire::bool_at(arguments, "everywhere")) {
        const auto session_id = session_for(arguments, surroundings);
        if (session_id) {
            // Of all sessions of its conversation: what was started before a reset may run on, and
            // "nothing runs" would be no answer to that.
            const auto key = key_of(*session_id, surroundings);
            params[key.empty() ? "session_id" : "key"] = key.empty() ? *session_id : key;
            of_whom =
                (key.empty() ? "of session " : "of the conversation of session ") + *session_id;
        } else if (session_id.error().code == ErrorCode::not_found) {
            // All of them is a better answer than none to "is anything running?".
            of_whom = "on this machine (it is not known which session this agent runs in)";
        } else {
            return refused(session_id.error());
        }
    }
    pass_on(arguments, params, {"task_id", "all", "limit", "cursor"});
    auto list = ask(surroundings, "process.list", params);
    if (!list) return refused(list.error());
    ToolResult result{.texts = {list_text(*list, of_whom)}, .content = std::move(*list)};
    // Some agents show the model the object alone.
    result.content["listed"] = of_whom;
    return result;
}

/// An absolute directory, and PATH: what a program started by hand would find.
void put_place(const JsonObject& arguments, JsonObject& params, Surroundings& surroundings) {
    const std::filesystem::path given(std::string(text_at(arguments, "cwd")));
    const auto own = surroundings.directory();
    if (given.is_absolute() || own.empty()) {
        if (!given.empty()) params["cwd"] = given.string();
    } else {
        params["cwd"] =
            given.empty() ? own : (std::filesystem::path(own) / given).lexically_normal().string();
    }
    JsonObject env;
    if (const auto* variables = wire::object_at(arguments, "env")) env = *variables;
    const auto path = surroundings.search_path();
    if (!path.empty() && !env.contains("PATH")) env["PATH"] = path;
    if (!env.empty()) params["env"] = std::move(env);
}

ToolResult process_start(const JsonObject& arguments, Surroundings& surroundings) {
    const auto session_id = session_for(arguments, surroundings);
    if (!session_id) return refused(session_id.error());
    JsonObject params{{"session_id", *session_id}};
    pass_on(arguments, params, {"task_id", "argv", "title"});
    put_place(arguments, params, surroundings);
    auto process = ask(surroundings, "process.start", params);
    if (!process) return refused(process.error());
    return {.texts = {"started " + process_text(*process)}, .content = std::move(*process)};
}

ToolResult process_output(const JsonObject& arguments, Surroundings& surroundings) {
    JsonObject params{{"limit", output_bytes_default}, {"encoding", "text"}};
    pass_on(arguments, params, {"process_id", "after", "limit"});
    auto page = ask(surroundings, "process.output", params);
    if (!page) return refused(page.error());
    ToolResult result;
    if (const auto output = text_at(*page, "output"); !output.empty()) {
        result.texts.emplace_back(output);
    }
    result.texts.push_back(output_text(*page));
    result.content = std::move(*page);
    return result;
}

ToolResult process_stop(const JsonObject& arguments, Surroundings& surroundings) {
    const auto id = text_at(arguments, "process_id");
    auto process = ask(surroundings, "process.stop", {{"process_id", id}});
    if (!process) return refused(process.error());
    const bool was_gone = wire::bool_at(*process, "already_exited");
    if (client::is_being_stopped(*process)) {
        process = cleaned(surroundings.wait_until_gone(id));
        if (!process) return refused(process.error());
    }
    (*process)["already_exited"] = was_gone;
    const bool runs = client::is_running(*process);
    const bool is_stopping = client::is_being_stopped(*process);
    const auto left = text_at(*process, "stop_failed");
    const bool is_left = !is_stopping && (runs || (!was_gone && !left.empty()));
    const auto how = is_stopping && runs ? "was told to stop and still runs, look again later: "
                     : is_stopping ? "is gone, but some of what it started still runs, look again "
                                     "later: "
                     : is_left && runs ? fmt::format("was not stopped ({}): ", left)
                     : is_left  ? fmt::format("is gone, but not all that it started ({}): ", left)
                     : was_gone ? "had exited already: "
                                : "stopped: ";
    return {.texts = {how + process_text(*process)},
            .content = std::move(*process),
            .is_error = is_stopping || is_left};
}

ToolResult process_vouch(const JsonObject& arguments, Surroundings& surroundings) {
    JsonObject params;
    pass_on(arguments, params, {"process_id", "until"});
    auto process = ask(surroundings, "process.vouch", params);
    if (!process) return refused(process.error());
    return {.texts = {process_text(*process)}, .content = std::move(*process)};
}

}  // namespace

ToolResult call_tool(const Tool& tool, const JsonObject& arguments, Surroundings& surroundings) {
    if (auto why = why_not(tool, arguments)) {
        return refused({ErrorCode::invalid_params, std::move(*why), {}, {}});
    }
    switch (tool.id) {
        case ToolName::session_status:
            return session_status(arguments, surroundings);
        case ToolName::process_list:
            return process_list(arguments, surroundings);
        case ToolName::process_start:
            return process_start(arguments, surroundings);
        case ToolName::process_output:
            return process_output(arguments, surroundings);
        case ToolName::process_stop:
            return process_stop(arguments, surroundings);
        case ToolName::process_vouch:
            return process_vouch(arguments, surroundings);
    }
    return {};
}

}  // namespace knell::mcp
