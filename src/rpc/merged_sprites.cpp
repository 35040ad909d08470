#include "rpc/merged_sprites.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace knell::rpc {

std::vector<Sprite> merged_sprites(const std::deque<Sprite>& own, std::string_view own_node,
                                   const std::vector<GatewayReport>& gateways) {
    std::vector<Sprite> all(own.begin(), own.end());
    std::set<std::pair<std::string_view, std::string_view>> told;  // into what the gateways told
    for (const auto& gateway : gateways) {
        if (!gateway.sessions) continue;
        for (const auto& session : *gateway.sessions) {
            const auto id = wire::text_at(session, "id");
            const auto node = wire::text_at(session, "node");
            if (node == own_node || !told.emplace(node, id).second) continue;
            Sprite sprite{fmt::format("{}/{}", gateway.name, id), session};
            sprite.facts["gateway"] = gateway.name;
            if (!gateway.is_reachable) sprite.facts["stale"] = true;
            all.push_back(std::move(sprite));
        }
    }
    return all;
}

}  // namespace knell::rpc
