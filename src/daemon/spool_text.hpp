#pragma once

#include <string_view>
#include <vector>

#include "rpc/backend.hpp"

namespace knell {

/// The calls in a spool file, in order, or what is wrong with the first line that cannot be
/// understood.
Result<std::vector<Command>> parse_spool(std::string_view text, rpc::Surroundings& here);

}  // namespace knell
