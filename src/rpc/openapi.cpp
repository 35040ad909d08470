#include "rpc/openapi.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "rpc/field_schema.hpp"
#include "rpc/http_reads.hpp"
#include "rpc/method_table.hpp"
#include "wire/error_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using wire::Field;

JsonObject schema_reference(std::string_view name) {
    return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

JsonObject content(std::string_view type, JsonObject schema) {
    return {{type, JsonObject{{"schema", std::move(schema)}}}};
}

JsonObject answered(std::string_view about, std::string_view type, JsonObject schema) {
    return {{"description", about}, {"content", content(type, std::move(schema))}};
}

const Method& method_named(std::string_view name) {
    return *std::ranges::find(methods(), name, &Method::name);
}

// --- components ---------------------------------------------------------------------------------

/// One JSON-RPC call of that method.
JsonObject call_schema(const Method& method) {
    JsonObject properties{
        {"jsonrpc", JsonObject{{"const", "2.0"}}},
        {"id", JsonObject{{"type", JsonArray{"string", "number", "null"}},
                          {"description", "given back with the answer; without it there is none"}}},
        {"method", JsonObject{{"const", method.name}}},
        {"params", schema_reference(fmt::format("{}.params", method.name))}};
    JsonArray required{"jsonrpc", "method"};
    if (std::ranges::any_of(method.params, &Field::required)) required.emplace_back("params");
    return {{"type", "object"},
            {"title", method.name},
            {"description", method.summary},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"x-result", schema_reference(fmt::format("{}.result", method.name))}};
}

JsonArray error_kinds() {
    JsonArray kinds;
    for (const auto& row : wire::error_table) kinds.emplace_back(row.name);
    return kinds;
}

JsonObject error_schema() {
    JsonObject data{
        {"type", "object"},
        {"properties",
         JsonObject{{"kind", JsonObject{{"enum", error_kinds()}}},
                    {"field", JsonObject{{"type", "string"},
                                         {"description", "the parameter that is at fault"}}}}},
        {"required", JsonArray{"kind"}},
        {"description", "what the caller needs to act: the owner, the reason ..."}};
    return {{"type", "object"},
            {"properties", JsonObject{{"code", JsonObject{{"type", "integer"}}},
                                      {"message", JsonObject{{"type", "string"}}},
                                      {"data", std::move(data)}}},
            {"required", JsonArray{"code", "message"}}};
}

JsonObject problem_schema() {
    return {{"type", "object"},
            {"description", "RFC 9457; with what `data` of the same JSON-RPC error holds"},
            {"properties",
             JsonObject{{"type", JsonObject{{"type", "string"}, {"format", "uri-reference"}}},
                        {"title", JsonObject{{"type", "string"}}},
                        {"status", JsonObject{{"type", "integer"}}},
                        {"detail", JsonObject{{"type", "string"}}},
                        {"kind", JsonObject{{"enum", error_kinds()}}},
                        {"field", JsonObject{{"type", "string"}}}}}};
}

JsonObject rpc_answer_schema() {
    JsonArray results;
    for (const auto& method : methods()) {
        results.push_back(schema_reference(fmt::format("{}.result", method.name)));
    }
    return {{"type", "object"},
            {"description", "`result` or `error`; x-result of a call names its result"},
            {"properties",
             JsonObject{{"jsonrpc", JsonObject{{"const", "2.0"}}},
                        {"id", JsonObject{{"type", JsonArray{"string", "number", "null"}}}},
                        {"result", JsonObject{{"anyOf", std::move(results)}}},
                        {"error", schema_reference("error")}}},
            {"required", JsonArray{"jsonrpc", "id"}}};
}

JsonObject schemas() {
    JsonObject all;
    for (const auto& [name, fields] : wire::fields::shared_objects) {
        all[name] = schema_of(fields, Direction::answer);
    }
    for (const auto& method : methods()) {
        all[fmt::format("{}.params", method.name)] = schema_of(method.params, Direction::call);
        all[fmt::format("{}.result", method.name)] = schema_of(method.result, Direction::answer);
        all[fmt::format("{}.call", method.name)] = call_schema(method);
    }
    all["answer"] = rpc_answer_schema();
    all["error"] = error_schema();
    all["problem"] = problem_schema();
    return all;
}

JsonObject components() {
    JsonObject bearer{{"type", "http"},
                      {"scheme", "bearer"},
                      {"description",
                       "the token in the file `token` of the daemon's home; the one in "
                       "`token.read` may only read"}};
    return {
        {"schemas", schemas()},
        {"responses", JsonObject{{"problem", answered("what went wrong", "application/problem+json",
                                                      schema_reference("problem"))}}},
        {"securitySchemes", JsonObject{{"bearer", std::move(bearer)}}}};
}

// --- paths --------------------------------------------------------------------------------------

JsonObject operation(std::string_view id, std::string_view summary, JsonObject responses) {
    responses["default"] = JsonObject{{"$ref", "#/components/responses/problem"}};
    return {{"operationId", id}, {"summary", summary}, {"responses", std::move(responses)}};
}

JsonObject get(JsonObject operation) {
    return {{"get", std::move(operation)}};
}

JsonObject parameter(const Field& field, std::string_view name, std::string_view in) {
    auto schema = schema_of(field, Direction::call);
    schema.erase("description");
    JsonObject parameter{
        {"name", name}, {"in", in}, {"description", field.about}, {"schema", std::move(schema)}};
    if (in == "path" || field.required) parameter["required"] = true;
    if (field.type == wire::FieldType::array) parameter["explode"] = false;  // ?types=a,b
    return parameter;
}

JsonObject header(std::string_view name, std::string_view about) {
    return {{"name", name},
            {"in", "header"},
            {"description", about},
            {"schema", JsonObject{{"type", "string"}}}};
}

bool is_query(const HttpRead& read, const Field& field) {
    if (!read.takes_query || field.type == wire::FieldType::object) return false;
    if (read.has_etag && field.name == "if_none_match") return false;  // a header
    return read.only.front().empty() || std::ranges::find(read.only, field.name) != read.only.end();
}

JsonArray parameters_of(const HttpRead& read) {
    const bool has_id = read.path.contains("{id}");
    JsonArray parameters;
    for (const auto& field : method_named(read.method).params) {
        if (has_id && field.name == read.id) {
            parameters.push_back(parameter(field, "id", "path"));
        } else if (is_query(read, field)) {
            const auto name = field.name == read.limit ? "limit" : field.name;
            parameters.push_back(parameter(field, name, "query"));
        }
    }
    if (read.has_etag) {
        parameters.push_back(header("If-None-Match", "the ETag of the answer before"));
    }
    return parameters;
}

JsonObject path_of(const HttpRead& read) {
    const auto& method = method_named(read.method);
    JsonObject responses{
        {"200", answered(method.summary, "application/json",
                         schema_reference(fmt::format("{}.result", method.name)))}};
    if (read.has_etag) {
        responses["304"] = JsonObject{{"description", "nothing has changed"}};
    }
    auto described = operation(read.operation, method.summary, std::move(responses));
    if (!read.about.empty()) described["description"] = read.about;
    if (auto parameters = parameters_of(read); !parameters.empty()) {
        described["parameters"] = std::move(parameters);
    }
    return get(std::move(described));
}

JsonObject rpc_path() {
    JsonArray calls;
    JsonObject mapping;
    for (const auto& method : methods()) {
        const auto name = fmt::format("{}.call", method.name);
        calls.push_back(schema_reference(name));
        mapping[method.name] = fmt::format("#/components/schemas/{}", name);
    }
    JsonObject call{
        {"oneOf", std::move(calls)},
        {"discriminator", JsonObject{{"propertyName", "method"}, {"mapping", std::move(mapping)}}}};
    auto described = operation(
        "call", "one JSON-RPC 2.0 call",
        {{"200", answered("the answer", "application/json", schema_reference("answer"))},
         {"204", JsonObject{{"description", "it carried no id, so nothing is answered"}}}});
    described["description"] = "The same calls, one a message, go over the WebSocket /v1/ws.";
    described["requestBody"] =
        JsonObject{{"required", true}, {"content", content("application/json", std::move(call))}};
    return {{"post", std::move(described)}};
}

JsonObject events_path() {
    JsonArray parameters;
    for (const auto& field : method_named("events.subscribe").params) {
        parameters.push_back(parameter(field, field.name, "query"));
    }
    parameters.push_back(header("Last-Event-ID", "as `after`: the last event that was heard"));
    auto described = operation(
        "follow_events", "events as they happen, as server-sent events",
        {{"200", answered("`id` is the seq, `event` the type, `data` the event; `gap` tells which "
                          "are no longer kept",
                          "text/event-stream", {{"type", "string"}})}});
    described["parameters"] = std::move(parameters);
    return get(std::move(described));
}

JsonObject text_path(std::string_view id, std::string_view summary, std::string_view type) {
    return get(
        operation(id, summary, {{"200", answered(summary, type, JsonObject{{"type", "string"}})}}));
}

/// Asked by supervisors, which have no token.
JsonObject health_path(std::string_view id, std::string_view summary) {
    JsonObject responses{{"200", JsonObject{{"description", "yes"}}},
                         {"503", JsonObject{{"description", "no"}}}};
    return get({{"operationId", id},
                {"summary", summary},
                {"responses", std::move(responses)},
                {"security", JsonArray{}}});
}

JsonObject paths() {
    JsonObject all{{"/v1/rpc", rpc_path()}};
    for (const auto& read : http_reads) all[read.path] = path_of(read);
    all["/v1/events"] = events_path();
    all["/metrics"] = text_path("metrics", "the daemon's figures for Prometheus", "text/plain");
    all["/healthz"] = health_path("is_alive", "whether the daemon runs");
    all["/readyz"] = health_path("is_ready", "whether it takes calls");
    all["/openapi.json"] = get(operation(
        "describe", "this description",
        {{"200", answered("OpenAPI 3.1", "application/json", JsonObject{{"type", "object"}})}}));
    return all;
}

}  // namespace

JsonObject openapi() {
    JsonObject info{{"title", "knell"},
                    {"version", "1"},
                    {"summary", "The truth about AI-agent sessions on one machine"},
                    {"description",
                     "A field that is missing and one that is null mean the same; readers ignore "
                     "fields that they do not know."}};
    return {{"openapi", "3.1.0"},
            {"info", std::move(info)},
            {"security", JsonArray{JsonObject{{"bearer", JsonArray{}}}}},
            {"paths", paths()},
            {"components", components()}};
}

}  // namespace knell::rpc
