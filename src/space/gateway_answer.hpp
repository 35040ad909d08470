#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell {

/// What another gateway told with 200.
struct GatewayAnswer {
    std::string etag;
    bool is_truncated = false;
    std::vector<JsonObject> sessions;  // as wire/space_fields.hpp has them
};

/// It may be of another version of knell, or no knell at all: fields that we do not know and
/// values that are not what their row says are left out, and so is a session that misses what each
/// has.  An error when it is no such picture.  Pure.
Result<GatewayAnswer> read_gateway_answer(std::string_view body);

}  // namespace knell
