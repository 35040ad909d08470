#include "rpc/merged_sprites.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::rpc {

MergedSprites merged_sprites(const std::deque<Sprite>& own, std::string_view own_node,
                             const std::vector<GatewayReport>& gateways) {
    MergedSprites all;
    std::size_t bytes = 0;
    const auto add = [&](Sprite sprite) {
        bytes += sprite.bytes + 1;
        all.is_truncated = all.is_truncated || bytes > limits::space_bytes_max;
        if (!all.is_truncated) all.sprites.push_back(std::move(sprite));
    };
    for (const auto& sprite : own) add(sprite);
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
            add(make_sprite(fmt::format("{}/{}", gateway.name, id), std::move(facts)));
        }
    }
    return all;
}

}  // namespace knell::rpc
