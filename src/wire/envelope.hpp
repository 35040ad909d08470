#pragma once

#include <string>
#include <string_view>

#include "wire/json.hpp"

namespace knell::wire {

/// One JSON-RPC 2.0 call.
struct Request {
    Json id;                       // null when the call carries none
    bool is_notification = false;  // no "id" member: nobody waits for an answer
    std::string method;
    JsonObject params;
};

/// A request that cannot be read still has an answer, under its id where that could be read.
struct BadRequest {
    Json id;
    Error error;
};

std::expected<Request, BadRequest> parse_request(std::string_view line);

/// What a call is answered.  Transports frame it: as a line, a WebSocket message, or the status and
/// body of an HTTP response.
struct Answer {
    std::string id;              // of the call, as JSON; "null" where it carried none
    Result<std::string> result;  // as JSON
};

/// Answers and calls are one line each, newline included.
std::string answer_line(const Answer& answer);
/// How long that line is, for a result.
std::size_t result_line_bytes(const Answer& answer);
/// An error that answers no call.
std::string error_line(const Error& error);
std::string request_line(std::int64_t id, std::string_view method, const JsonObject& params);

/// For clients: the result, or the error, of one answer line.
Result<Json> parse_response(std::string_view line);

}  // namespace knell::wire
