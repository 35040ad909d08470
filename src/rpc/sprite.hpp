#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/session.hpp"
#include "wire/json.hpp"

namespace knell::rpc {

/// A session as space.activity tells of it.
struct Sprite {
    std::string key;  // its id; of another gateway "NAME/ID", which no id can be
    JsonObject facts;
    // Of the facts as text.
    std::uint64_t hash = 0;
    std::size_t bytes = 0;
};

Sprite make_sprite(std::string key, JsonObject facts);
Sprite sprite_of(const Session& session, std::string_view node);

/// Since when the session has the status it has.  Where that is not on record (idle), its last
/// activity.
WallTime status_since(const Session& session);

/// FNV-1a; `seed` is the hash of what came before.
std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325U);

}  // namespace knell::rpc
