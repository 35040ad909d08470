#include "net/http/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "wire/error_table.hpp"

namespace knell::net::http {

Problem problem_of(const Error& error) {
    return problem_of(error, wire::row_of(error.code).http_status);
}

Problem problem_of(const Error& error, int status) {
    const auto& row = wire::row_of(error.code);
    auto title = std::string(row.name);
    std::ranges::replace(title, '_', ' ');
    JsonObject problem{{"type", fmt::format("urn:knell:problem:{}", row.name)},
                       {"title", title},
                       {"status", status},
                       {"detail", error.message},
                       {"code", row.json_rpc}};
    const auto known = wire::to_json(error);
    for (const auto& [name, value] : *wire::object_at(known, "data")) {
        // A status of ours is a session's, and not what HTTP means.
        problem[name == "status" ? "session_status" : name] = value;
    }
    return {status, wire::to_text(problem) + "\n"};  // as every body ends
}

}  // namespace knell::net::http
