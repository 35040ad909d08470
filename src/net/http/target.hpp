#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace knell::net::http {

/// What a request line asks for, decoded.
struct Target {
    std::vector<std::string> path;  // "/v1/sessions/a%2Fb": v1, sessions, a/b
    std::vector<std::pair<std::string, std::string>> query;
};

/// Pure.  Only the origin form: "/path?query".  An error says what is wrong with it.
Result<Target> parse_target(std::string_view target);

/// As part of a query, whatever is in it.
std::string encode_query(std::string_view text);

}  // namespace knell::net::http
