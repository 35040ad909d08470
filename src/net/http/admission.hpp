#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "net/http/tokens.hpp"
#include "rpc/caller.hpp"

namespace knell::net::http {

/// Who is let in.  Replaced whole when a file or the config changes.
struct Rules {
    Tokens tokens;
    std::vector<std::string> hosts;  // http.hosts
    std::string listen_host;         // "": none that a client could name
    bool allow_processes = false;
};

/// What the header of a request says of its sender.
struct Sender {
    std::size_t hosts = 0;  // how many headers Host there are
    std::string_view host;
    std::optional<std::string_view> origin;
    std::string_view authorization;
};

struct Refusal {
    Error why;
    int status = 401;
    bool is_guess = false;  // it showed a token, and a wrong one
};

/// Pure.  Whether that sender may ask at all, and for what.
std::variant<rpc::Access, Refusal> admit(const Sender& sender, const Rules& rules);

}  // namespace knell::net::http
