#pragma once

#include <string>

namespace knell {

/// Another daemon whose picture is shown beside ours: an entry of `space.gateways`.
struct GatewaySpec {
    std::string name;
    std::string url;         // of its HTTP gateway; the path is ours to add
    std::string token_file;  // never the token itself; read anew each time
    bool allow_internal = false;

    bool operator==(const GatewaySpec&) const = default;
};

}  // namespace knell
