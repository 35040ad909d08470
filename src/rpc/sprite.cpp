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
        case Status::background:
            return session.background_since.value_or(session.last_activity_at);
        case Status::attached:
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

namespace {

/// So that hashes can be added up: of those of like texts FNV-1a has like low bits.
std::uint64_t mixed(std::uint64_t hash) {
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31U);
}

SpritePlace place_of(const Session& session, WallTime told_at) {
    if (session.end) return {SpritePlace::Part::ended, -to_millis(told_at), -session.ordinal};
    return {SpritePlace::Part::open, -session.ordinal};
}

}  // namespace

Sprite make_sprite(std::string key, SpritePlace place, const JsonObject& facts) {
    auto text = wire::to_text(facts);
    const auto hash = mixed(hash_of(text, hash_of(key)));
    return {std::move(key), place, std::move(text), hash};
}

Sprite sprite_of(const Session& session, std::string_view node, WallTime told_at) {
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
    facts["turn_count"] = session.turns;
    if (session.end) {
        facts["ended_at"] = format_rfc3339(session.end->ended_at);
        facts["reason"] = name_of(session.end->reason);
        facts["proof"] = name_in(proof_names, session.end->proof);
    }
    return make_sprite(session.id.text(), place_of(session, told_at), facts);
}

}  // namespace knell::rpc
