#pragma once

#include <string>
#include <string_view>

#include "core/session.hpp"
#include "wire/json.hpp"

namespace knell::rpc {

/// A session as space.activity tells of it.
struct Sprite {
    std::string key;  // its id; of another gateway "NAME/ID", which no id can be
    JsonObject facts;
};

Sprite sprite_of(const Session& session, std::string_view node);

/// Since when the session has the status it has.  Where that is not on record (idle), its last
/// activity.
WallTime status_since(const Session& session);

}  // namespace knell::rpc
