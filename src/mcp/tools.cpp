#include "mcp/tools.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "mcp/shortened.hpp"

namespace knell::mcp {

namespace {

constexpr Argument session_argument{.name = "session_id",
                                    .about = "The session (default: the one this agent runs in)"};
constexpr Argument process_argument{
    .name = "process_id", .required = true, .about = "As process_list names it: p-..."};
constexpr Argument task_argument{.name = "task_id", .about = "The agent's own task it belongs to"};

constexpr std::array status_arguments{session_argument};
constexpr std::array list_arguments{
    session_argument,
    Argument{.name = "task_id",
             .about = "Marks which processes belong to this task; the session's others are listed "
                      "too"},
    Argument{.name = "everywhere",
             .type = ArgumentType::boolean,
             .about = "Those of every session on this machine (default: false)"},
    Argument{.name = "all",
             .type = ArgumentType::boolean,
             .about = "Also those that exited more than 30 minutes ago (default: false)"},
    Argument{.name = "limit",
             .type = ArgumentType::integer,
             .min = 1,
             .max = limits::list_page_max,
             .about = "At most so many (default: 50)"},
    Argument{.name = "cursor", .about = "`next` of the page before"},
};
constexpr std::array start_arguments{
    Argument{.name = "argv",
             .type = ArgumentType::words,
             .required = true,
             .about = "Program and arguments, one word each; no shell interprets them"},
    session_argument,
    task_argument,
    Argument{.name = "title", .about = "What it is for, for people"},
    Argument{.name = "cwd",
             .about = "Working directory; a relative one counts from this server's (default: this "
                      "server's)"},
    Argument{.name = "env",
             .type = ArgumentType::variables,
             .about = "Variables for its environment, NAME to value; of the agent's own only PATH "
                      "is passed on"},
};
constexpr std::array output_arguments{
    process_argument,
    Argument{.name = "after",
             .type = ArgumentType::integer,
             .min = 0,
             .max = INT64_MAX,
             .about = "Only what follows this byte: `next` of the call before (default: the end of "
                      "what there is)"},
    Argument{.name = "limit",
             .type = ArgumentType::integer,
             .min = 4,
             .max = limits::process_output_page_default,
             .about = "At most so many bytes (default: 16384)"},
};
constexpr std::array stop_arguments{process_argument};
constexpr std::array vouch_arguments{
    process_argument,
    Argument{.name = "until",
             .required = true,
             .about = "A time (RFC 3339) or how long from now (30m, 2h), at most 7 days; \"off\" "
                      "takes it back"},
};

constexpr std::array all_tools{
    Tool{.id = ToolName::session_status,
         .name = "session_status",
         .title = "Session status",
         .about = "Tells how a session stands (running, idle, background ...) and which of its "
                  "background processes run: what keeps it from being idle, or from being reset.",
         .only_reads = true,
         .repeatable = true,
         .arguments = status_arguments},
    Tool{.id = ToolName::process_list,
         .name = "process_list",
         .title = "List background processes",
         .about = "Lists the background processes of a session, those that other tasks started "
                  "included: pid, command, what each is doing (working, listening, waiting, "
                  "exited) with the evidence, and whether it counts as work.",
         .only_reads = true,
         .repeatable = true,
         .arguments = list_arguments},
    Tool{.id = ToolName::process_start,
         .name = "process_start",
         .title = "Start a background process",
         .about = "Starts a program that goes on after this call, on record under the session. Its "
                  "output is kept for process_output; stop it with process_stop when it is no "
                  "longer needed.",
         .arguments = start_arguments},
    Tool{.id = ToolName::process_output,
         .name = "process_output",
         .title = "Read a process's output",
         .about = "Reads what a background process wrote to standard output and standard error. "
                  "Give `next` of one call as `after` of the next to go on.",
         .only_reads = true,
         .repeatable = true,
         .arguments = output_arguments},
    Tool{.id = ToolName::process_stop,
         .name = "process_stop",
         .title = "Stop a background process",
         .about = "Stops a background process and everything it started: SIGTERM, then SIGKILL "
                  "for what still runs five seconds later. Waits until all of that is gone.",
         .destroys = true,
         .repeatable = true,
         .arguments = stop_arguments},
    Tool{.id = ToolName::process_vouch,
         .name = "process_vouch",
         .title = "Vouch for a process",
         .about = "Says that a background process is wanted until some time: it counts as work "
                  "although it does nothing, and so keeps its session.",
         .repeatable = true,
         .arguments = vouch_arguments},
};

std::string_view json_type(ArgumentType type) {
    switch (type) {
        case ArgumentType::text:
            return "string";
        case ArgumentType::integer:
            return "integer";
        case ArgumentType::boolean:
            return "boolean";
        case ArgumentType::words:
            return "array";
        case ArgumentType::variables:
            return "object";
    }
    return {};
}

JsonObject schema_of(const Argument& argument) {
    JsonObject schema{{"type", json_type(argument.type)}};
    switch (argument.type) {
        case ArgumentType::text:
            if (argument.required) schema["minLength"] = 1;
            break;
        case ArgumentType::integer:
            schema["minimum"] = argument.min;
            if (argument.max != INT64_MAX) schema["maximum"] = argument.max;
            break;
        case ArgumentType::boolean:
            break;
        case ArgumentType::words:
            schema["items"] = JsonObject{{"type", "string"}};
            schema["minItems"] = 1;
            break;
        case ArgumentType::variables:
            schema["additionalProperties"] = JsonObject{{"type", "string"}};
            break;
    }
    schema["description"] = argument.about;
    return schema;
}

JsonObject schema_of(std::span<const Argument> arguments) {
    JsonObject properties;
    JsonArray required;
    for (const auto& argument : arguments) {
        properties[argument.name] = schema_of(argument);
        if (argument.required) required.emplace_back(argument.name);
    }
    JsonObject schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
}

bool is_text(const Json& value) {
    return value.is_string();
}

/// "" when it is as the row says.
std::string why_not(const Argument& argument, const Json& value) {
    switch (argument.type) {
        case ArgumentType::text:
            if (!value.is_string()) return "must be a string";
            return argument.required && value.get_string().empty() ? "must not be empty" : "";
        case ArgumentType::integer: {
            boost::system::error_code inexact;
            const auto number = value.to_number<std::int64_t>(inexact);
            if (!value.is_number() || inexact) return "must be a whole number";
            if (number >= argument.min && number <= argument.max) return {};
            return fmt::format("must be between {} and {}", argument.min, argument.max);
        }
        case ArgumentType::boolean:
            return value.is_bool() ? "" : "must be true or false";
        case ArgumentType::words: {
            const auto* words = value.if_array();
            if (words == nullptr || words->empty() || !std::ranges::all_of(*words, is_text)) {
                return R"(must be an array of strings, such as ["make", "test"])";
            }
            return {};
        }
        case ArgumentType::variables: {
            const auto* object = value.if_object();
            const auto is_text_pair = [](const auto& pair) { return is_text(pair.value()); };
            if (object == nullptr || !std::ranges::all_of(*object, is_text_pair)) {
                return R"(must be an object of strings, such as {"PORT": "8080"})";
            }
            return {};
        }
    }
    return {};
}

std::string names_of(std::span<const Argument> arguments) {
    std::string names;
    for (const auto& argument : arguments) {
        names += (names.empty() ? "" : ", ") + std::string(argument.name);
    }
    return names;
}

}  // namespace

std::span<const Tool> tools() {
    return all_tools;
}

const Tool* find_tool(std::string_view name) {
    const auto* found = std::ranges::find(all_tools, name, &Tool::name);
    return found == all_tools.end() ? nullptr : found;
}

JsonObject describe(const Tool& tool, const ProtocolVersion& version) {
    JsonObject described{{"name", tool.name}};
    if (version.structured) described["title"] = tool.title;
    described["description"] = tool.about;
    described["inputSchema"] = schema_of(tool.arguments);
    if (version.annotations) {
        described["annotations"] = JsonObject{{"title", tool.title},
                                              {"readOnlyHint", tool.only_reads},
                                              {"destructiveHint", tool.destroys},
                                              {"idempotentHint", tool.repeatable},
                                              {"openWorldHint", false}};
    }
    return described;
}

std::optional<std::string> why_not(const Tool& tool, const JsonObject& given) {
    for (const auto& pair : given) {
        const auto name = std::string_view(pair.key());
        const auto row = std::ranges::find(tool.arguments, name, &Argument::name);
        if (row == tool.arguments.end()) {
            return fmt::format("{} takes no argument \"{}\"; it takes: {}", tool.name,
                               shortened(name), names_of(tool.arguments));
        }
        // Models write null for what they leave out.
        if (pair.value().is_null()) continue;
        if (auto why = why_not(*row, pair.value()); !why.empty()) {
            return fmt::format("{}: {}", name, why);
        }
    }
    for (const auto& argument : tool.arguments) {
        const auto* value = given.if_contains(argument.name);
        if (argument.required && (value == nullptr || value->is_null())) {
            return fmt::format("{}: is required", argument.name);
        }
    }
    return std::nullopt;
}

}  // namespace knell::mcp
