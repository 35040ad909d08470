#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "rpc/sprite.hpp"
#include "wire/gateway_report.hpp"

namespace knell::rpc {

struct MergedSprites {
    std::vector<Sprite> sprites;
    bool is_truncated = false;  // there were more than an answer can hold
};

/// What this node shows, and behind it what each gateway told last, by the gateway's name.  Those
/// of a gateway that does not answer stay, marked as stale: silence is no end.  A session that was
/// told already, of the same node under the same id, is left out: two names may lead to one daemon,
/// or to this one.  Pure.
MergedSprites merged_sprites(const std::deque<Sprite>& own, std::string_view own_node,
                             const std::vector<GatewayReport>& gateways);

}  // namespace knell::rpc
