#pragma once

#include "wire/json.hpp"

namespace knell::rpc {

/// What is served over HTTP, as OpenAPI 3.1: every method with what it takes and answers, and the
/// plain reads.  Pure: made of the method table and its rows alone, the same on every node.
JsonObject openapi();

}  // namespace knell::rpc
