#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rpc/sprite.hpp"
#include "wire/gateway_report.hpp"

namespace knell::rpc {

struct GatewaySprites {
    std::vector<Sprite> sprites;
    bool is_truncated = false;  // there were more than there is room for
};

/// What each gateway told last, by the gateway's name.  Those of a gateway that does not answer
/// stay, marked as stale: silence is no end.  A session that was told already, of the same node
/// under the same id, is left out: two names may lead to one daemon, or to this one.  Pure.
GatewaySprites gateway_sprites(std::string_view own_node,
                               const std::vector<GatewayReport>& gateways, std::size_t bytes_max);

}  // namespace knell::rpc
