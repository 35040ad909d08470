#include "wire/envelope.hpp"

#include "wire/error_table.hpp"

namespace knell::wire {

namespace {

std::unexpected<BadRequest> bad(const Json& id, std::string message) {
    return std::unexpected(
        BadRequest{id, Error{ErrorCode::invalid_request, std::move(message), {}, {}}});
}

constexpr std::string_view answer_begin = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view result_begin = R"(,"result":)";
constexpr std::string_view error_begin = R"(,"error":)";
constexpr std::string_view answer_end = "}\n";

/// Results may be megabytes long: the line is made in one piece.
std::string line_of(std::string_view id, std::string_view begin, std::string_view value) {
    std::string line;
    line.reserve(answer_begin.size() + id.size() + begin.size() + value.size() + answer_end.size());
    line += answer_begin;
    line += id;
    line += begin;
    line += value;
    line += answer_end;
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

std::string answer_line(const Answer& answer) {
    if (answer.result) return line_of(answer.id, result_begin, *answer.result);
    return line_of(answer.id, error_begin, to_text(to_json(answer.result.error())));
}

std::size_t result_line_bytes(const Answer& answer) {
    return answer_begin.size() + answer.id.size() + result_begin.size() + answer.result->size() +
           answer_end.size();
}

std::string error_line(const Error& error) {
    return answer_line({"null", std::unexpected(error)});
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
