#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "wire/json.hpp"

namespace knell {

/// What is known of another daemon that is polled (`space.gateways`): its last picture stays when
/// it falls silent.
struct GatewayReport {
    std::string name;
    bool is_reachable = false;
    std::optional<WallTime> as_of;  // its last answer, by our clock; none: there was none yet
    std::string error;              // why it is not reachable
    bool is_truncated = false;      // it had more sessions than it told
    /// As wire/space_fields.hpp has them; null: never heard.  Shared, as nobody changes them.
    std::shared_ptr<const std::vector<JsonObject>> sessions;
    /// Another number once anything above but `as_of` is different.
    std::uint64_t version = 0;
};

}  // namespace knell
