#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/session.hpp"
#include "wire/json.hpp"

namespace knell::rpc {

/// Where a sprite stands in the picture, lowest first.
struct SpritePlace {
    enum class Part : std::uint8_t { ended, open, other_gateways };
    Part part = Part::open;
    std::int64_t rank = 0;
    std::int64_t tie = 0;

    auto operator<=>(const SpritePlace&) const = default;
};

/// A session as space.activity tells of it.
struct Sprite {
    std::string key;  // its id; of another gateway "NAME/ID", which no id can be
    SpritePlace place;
    std::string text;        // what is told, as JSON
    std::uint64_t hash = 0;  // of key and text
};

Sprite make_sprite(std::string key, SpritePlace place, const JsonObject& facts);
/// `told_at`: when its end was told, of one that has ended.  Open ones stand newest first, behind
/// ended ones, the last told first.
Sprite sprite_of(const Session& session, std::string_view node, WallTime told_at = {});

/// Since when the session has the status it has.  Where that is not on record (idle), its last
/// activity.
WallTime status_since(const Session& session);

/// FNV-1a; `seed` is the hash of what came before.
std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325U);

}  // namespace knell::rpc
