#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "net/http/admission.hpp"
#include "net/http/routes.hpp"
#include "wire/envelope.hpp"

namespace knell::net::http {

inline constexpr std::string_view json_type = "application/json";

/// What a request is answered, before it is written.
struct Response {
    int status = 200;
    std::string content_type{json_type};
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    bool must_close = false;  // what follows on the connection cannot be trusted or is not wanted
};

/// With the status of the error table; what a token does not allow is forbidden (403).
Response response_to(const Error& error);
Response response_to(const Error& error, int status);

/// To whoever is not let in, or sent no request; the connection ends with it.
Response refused(const Refusal& refusal);
Response health_response(bool is_well);
/// `found` is no match.
Response no_route_response(const std::variant<Matched, NoSuchPath, OtherVerbs>& found);

/// To whoever asks for /v1/ws in another way than by an upgrade.
Response upgrade_required_response();

/// Of a path that is a method.
Response response_to(Result<std::string>&& result, const Matched& matched, const Target& target);
/// Of a JSON-RPC call, whose errors are in the body; nothing for a notification.
Response response_to(const std::optional<wire::Answer>& answer);

/// Compresses the body where that pays.
void compress(Response& response);

/// Status line and header fields of an answer that ends with its connection, and all of one.
std::string head_text(int status, std::string_view content_type);
std::string whole_text(const Response& response);

}  // namespace knell::net::http
