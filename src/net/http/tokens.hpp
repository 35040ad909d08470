#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rpc/caller.hpp"

namespace knell::net::http {

/// What clients have to show.  An empty one lets nobody in.
struct Tokens {
    std::string full;
    std::string read_only;

    bool operator==(const Tokens&) const = default;
};

/// The token of "Authorization: Bearer TOKEN"; "" when the header says something else.
std::string_view bearer_token(std::string_view authorization);

/// What that token allows, by itself.  Takes as long for a wrong one as for a right one, whatever
/// they have in common.
std::optional<rpc::Access> access_by(std::string_view token, const Tokens& tokens);

}  // namespace knell::net::http
