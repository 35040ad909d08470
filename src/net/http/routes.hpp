#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "net/http/target.hpp"

namespace knell::net::http {

/// What is made of a method's result where it is not sent as it is.  Pure: from the result, as
/// JSON, to the body.  Pages for other programs (metrics, descriptions) are such functions.
struct Rendering {
    std::string_view content_type;
    std::string (*body)(std::string_view result);
};

/// What a path serves.
enum class Serves : std::uint8_t {
    call,       // the result of a method, its parameters from path and query
    rpc,        // a call as JSON-RPC in the body
    events,     // events.subscribe as a stream of server-sent events
    websocket,  // calls as JSON-RPC, one a message
    health,     // that this process answers; without a token
    readiness,  // that it can do its work; without a token
};

/// One row of the route table.
struct Route {
    std::string_view verb;  // GET also serves HEAD
    std::string_view path;  // a {name} in it is a parameter of the method
    Serves serves = Serves::call;
    std::string_view method = {};  // of the method table
    /// Where the result says that there is more, and the parameter that asks for it: `Link:
    /// rel="next"`.
    std::string_view next_field = {};
    std::string_view next_param = {};
    /// A parameter that this path gives another name and a value of its own where the query does
    /// not: {"limit", "messages", "50"}.
    struct Renamed {
        std::string_view query;
        std::string_view param;
        std::string_view standard;
    };
    Renamed renamed = {};
    const Rendering* rendering = nullptr;  // null: the result is the body
    /// The method takes `if_none_match`, and its result begins with `etag` and `unchanged`.
    bool has_etag = false;

    bool needs_token() const { return serves != Serves::health && serves != Serves::readiness; }
};

/// Every path there is.  A page that is made of a method's result is a row with a Rendering.
std::span<const Route> routes();

struct Matched {
    const Route* route = nullptr;
    /// What the path and the query give: parameters of the method.
    std::vector<std::pair<std::string, std::string>> params;
};
struct NoSuchPath {};
struct OtherVerbs {
    std::string allowed;  // for the header Allow: "GET, HEAD"
};
/// Pure.
std::variant<Matched, NoSuchPath, OtherVerbs> find_route(std::string_view verb,
                                                         const Target& target);

/// The header Link of an answer that has more behind it; "" when it has not.  `params` are those
/// that led to `result`.
std::string next_link(const Matched& matched, const Target& target, std::string_view result);

}  // namespace knell::net::http
