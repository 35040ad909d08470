#include "rpc/gateway_sprites.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace knell::rpc {

GatewaySprites gateway_sprites(std::string_view own_node,
                               const std::vector<GatewayReport>& gateways, std::size_t bytes_max) {
    GatewaySprites all;
    std::size_t bytes = 0;
    std::set<std::pair<std::string_view, std::string_view>> told;  // into what the gateways told
    for (const auto& gateway : gateways) {
        if (!gateway.sessions) continue;
        for (const auto& session : *gateway.sessions) {
            const auto id = wire::text_at(session, "id");
            const auto node = wire::text_at(session, "node");
            if (node == own_node || !told.emplace(node, id).second) continue;
            auto facts = session;
            facts["gateway"] = gateway.name;
            if (!gateway.is_reachable) facts["stale"] = true;
            const auto rank = static_cast<std::int64_t>(all.sprites.size());
            auto sprite = make_sprite(fmt::format("{}/{}", gateway.name, id),
                                      {SpritePlace::Part::other_gateways, rank}, facts);
            bytes += sprite.text.size() + 1;
            all.is_truncated = bytes > bytes_max;
            if (all.is_truncated) return all;
            all.sprites.push_back(std::move(sprite));
        }
    }
    return all;
}

}  // namespace knell::rpc
