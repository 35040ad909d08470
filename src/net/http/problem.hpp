#pragma once

#include <string>

#include "core/error.hpp"

namespace knell::net::http {

inline constexpr std::string_view problem_type = "application/problem+json";

/// An error as RFC 9457 has it: {"type", "title", "status", "detail", "code", "kind", "field"?,
/// ...}, with all that the error of JSON-RPC says in `data`.
struct Problem {
    int status = 500;
    std::string body;
};

/// With the status of the error table.
Problem problem_of(const Error& error);
/// With another one: what HTTP tells apart and the table does not.
Problem problem_of(const Error& error, int status);

}  // namespace knell::net::http
