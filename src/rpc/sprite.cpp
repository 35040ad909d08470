#include "rpc/sprite.hpp"

namespace knell::rpc {

WallTime status_since(const Session& session) {
    switch (status_of(session)) {
        case Status::ended:
            return session.end->ended_at;
        case Status::unknown:
            return session.unknown_since.value_or(session.last_activity_at);
        case Status::stalled:
            return session.stalled_since.value_or(session.last_activity_at);
        case Status::detached:
            return session.parked_since.value_or(session.last_activity_at);
        case Status::running:
            return session.turn_since.value_or(session.last_activity_at);
        case Status::attached:
        case Status::background:
        case Status::idle:
            return session.last_activity_at;
    }
    return session.last_activity_at;
}

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
    for (const char c : text) {
        seed ^= static_cast<unsigned char>(c);
        seed *= 0x100000001b3U;
    }
    return seed;
}

Sprite make_sprite(std::string key, JsonObject facts) {
    const auto text = wire::to_text(facts);
    return {std::move(key), std::move(facts), hash_of(text), text.size()};
}

Sprite sprite_of(const Session& session, std::string_view node) {
    JsonObject facts;
    const auto put = [&facts](std::string_view name, std::string_view value) {
        if (!value.empty()) facts[name] = value;
    };
    facts["id"] = session.id.text();
    facts["node"] = node;
    put("key", session.key);
    put("source", session.source);
    put("platform", session.platform);
    put("title", session.title);
    put("parent_id", session.parent_id.text());
    put("relation", name_in(relation_names, session.relation));
    facts["generation"] = session.generation;
    facts["status"] = name_in(status_names, status_of(session));
    facts["status_since"] = format_rfc3339(status_since(session));
    facts["started_at"] = format_rfc3339(session.started_at);
    facts["last_activity_at"] = format_rfc3339(session.last_activity_at);
    facts["message_count"] = session.tally.messages;
    if (session.end) {
        facts["ended_at"] = format_rfc3339(session.end->ended_at);
        facts["reason"] = name_of(session.end->reason);
        facts["proof"] = name_in(proof_names, session.end->proof);
    }
    return make_sprite(session.id.text(), std::move(facts));
}

}  // namespace knell::rpc
