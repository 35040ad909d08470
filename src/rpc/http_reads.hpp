#pragma once

#include <array>
#include <string_view>

/// What is read over HTTP with a plain GET: each path is one method of the table, its rows the
/// parameters.  /openapi.json describes it.
namespace knell::rpc {

struct HttpRead {
    std::string_view path;  // {id} stands for the parameter `id`
    std::string_view operation;
    std::string_view method;
    std::string_view id = "session_id";
    /// Which rows of the method are query parameters; empty: all that are not in the path.
    std::array<std::string_view, 2> only = {};
    std::string_view limit = {};  // the row that is called `limit` here
    bool takes_query = true;
    bool has_etag = false;  // answers If-None-Match with 304
    std::string_view about = {};
};

inline constexpr std::array http_reads{
    HttpRead{.path = "/v1/sessions",
             .operation = "list_sessions",
             .method = "session.list",
             .about = "With `Link: <...>; rel=\"next\"` where there are more"},
    HttpRead{.path = "/v1/sessions/{id}",
             .operation = "show_session",
             .method = "session.show",
             .takes_query = false},
    HttpRead{
        .path = "/v1/sessions/{id}/why", .operation = "explain_session", .method = "session.why"},
    HttpRead{.path = "/v1/sessions/{id}/messages",
             .operation = "read_messages",
             .method = "session.show",
             .only = {"messages", "before"},
             .limit = "messages"},
    HttpRead{.path = "/v1/processes",
             .operation = "list_processes",
             .method = "process.list",
             .about = "With `Link: <...>; rel=\"next\"` where there are more"},
    HttpRead{.path = "/v1/processes/{id}",
             .operation = "show_process",
             .method = "process.show",
             .id = "process_id"},
    HttpRead{.path = "/v1/processes/{id}/output",
             .operation = "read_output",
             .method = "process.output",
             .id = "process_id",
             .about = "Needs the full token: what a program writes may be secret"},
    HttpRead{.path = "/v1/hooks", .operation = "list_hooks", .method = "hooks.list"},
    HttpRead{.path = "/v1/space/activity",
             .operation = "show_activity",
             .method = "space.activity",
             .has_etag = true},
    HttpRead{.path = "/v1/status", .operation = "show_status", .method = "node.status"},
    HttpRead{.path = "/v1/stats", .operation = "show_stats", .method = "node.stats"},
};

}  // namespace knell::rpc
