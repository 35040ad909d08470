#pragma once

#include <array>
#include <string_view>

#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// The one table from an error to what each kind of caller sees.
struct ErrorRow {
    ErrorCode code;
    std::string_view name;
    int json_rpc;
    int http_status;
};

inline constexpr std::array<ErrorRow, 14> error_table{{
    {ErrorCode::parse_error, "parse_error", -32700, 400},
    {ErrorCode::invalid_request, "invalid_request", -32600, 400},
    {ErrorCode::method_not_found, "method_not_found", -32601, 404},
    {ErrorCode::invalid_params, "invalid_params", -32602, 422},
    {ErrorCode::internal, "internal", -32603, 500},
    {ErrorCode::not_found, "not_found", -32001, 404},
    {ErrorCode::owned, "owned", -32002, 409},
    {ErrorCode::fenced, "fenced", -32003, 409},
    {ErrorCode::blocked, "blocked", -32004, 409},
    {ErrorCode::ended, "ended", -32005, 410},
    {ErrorCode::unauthorized, "unauthorized", -32006, 401},
    {ErrorCode::limit, "limit", -32007, 429},
    // JSON-RPC's own "internal error": a client can do nothing about the daemon's disk.
    {ErrorCode::storage, "storage", -32603, 507},
    {ErrorCode::unreachable, "unreachable", -32603, 503},
}};

constexpr const ErrorRow& row_of(ErrorCode code) {
    return error_table.at(static_cast<std::size_t>(code));
}

/// {"code", "message", "data": {"kind", "field"?, "owner"?, ...}}
JsonObject to_json(const Error& error);
/// The other way, for clients; an unknown code becomes `internal`.
Error error_from_json(const JsonObject& object);

}  // namespace knell::wire
