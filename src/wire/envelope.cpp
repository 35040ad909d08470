#include "wire/envelope.hpp"

#include "wire/error_table.hpp"

namespace knell::wire {

namespace {

std::unexpected<BadRequest> bad(const Json& id, std::string message) {
    return std::unexpected(
        BadRequest{id, Error{ErrorCode::invalid_request, std::move(message), {}, {}}});
}

std::string answer(const Json& id, std::string_view name, const Json& value) {
    std::string line = R"({"jsonrpc":"2.0","id":)";
    line += to_text(id);
    line += ",\"";
    line += name;
    line += "\":";
    line += to_text(value);
    line += "}\n";
    return line;
}

}  // namespace

std::expected<Request, BadRequest> parse_request(std::string_view line) {
    auto value = parse_json(line);
    if (!value) return std::unexpected(BadRequest{nullptr, std::move(value.error())});
    auto* object = value->if_object();
    if (object == nullptr)
        return bad(nullptr, "a request is one JSON object, not an array or a bare value");

    Request request;
    if (const auto* id = object->if_contains("id")) {
        if (!id->is_string() && !id->is_number() && !id->is_null()) {
            return bad(nullptr, "id: must be a string, a number or null");
        }
        request.id = *id;
    } else {
        request.is_notification = true;
    }
    if (text_at(*object, "jsonrpc") != "2.0") {
        return bad(request.id, R"(jsonrpc: must be the string "2.0")");
    }
    const auto* method = object->if_contains("method");
    if (method == nullptr || !method->is_string()) {
        return bad(request.id, "method: must be a string");
    }
    request.method = std::string_view(method->get_string());
    if (auto* params = object->if_contains("params"); params != nullptr && !params->is_null()) {
        if (!params->is_object()) return bad(request.id, "params: must be an object");
        request.params = std::move(params->get_object());
    }
    return request;
}

std::string result_line(const Json& id, const Json& result) {
    return answer(id, "result", result);
}

std::string error_line(const Json& id, const Error& error) {
    return answer(id, "error", to_json(error));
}

std::string request_line(std::int64_t id, std::string_view method, const JsonObject& params) {
    JsonObject object;
    object["jsonrpc"] = "2.0";
    object["id"] = id;
    object["method"] = method;
    object["params"] = params;
    return to_text(object) + "\n";
}

Result<Json> parse_response(std::string_view line) {
    auto value = parse_json(line);
    if (!value) return std::unexpected(std::move(value.error()));
    auto* object = value->if_object();
    if (object == nullptr) return fail(ErrorCode::internal, "the daemon's answer is not an object");
    if (const auto* error = object_at(*object, "error")) {
        return std::unexpected(error_from_json(*error));
    }
    auto* result = object->if_contains("result");
    if (result == nullptr) return fail(ErrorCode::internal, "the daemon's answer holds no result");
    return std::move(*result);
}

}  // namespace knell::wire
