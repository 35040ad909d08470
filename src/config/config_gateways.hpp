#pragma once

#include <vector>

#include "config/gateway_spec.hpp"
#include "config/key_reader.hpp"

namespace knell {

/// The `space.gateways` of the config, from what its root says.  What is wrong goes to the
/// problems, what is set to the settings.
std::vector<GatewaySpec> read_gateways(const KeyValues& root, const ConfigPlace& place,
                                       FileProblems& problems, std::vector<Setting>& settings);

}  // namespace knell
