#pragma once

#include <vector>

#include "config/key_reader.hpp"
#include "config/webhook_spec.hpp"

namespace knell {

/// The `webhooks` of the config, from what its root says.  What is wrong goes to the problems, what
/// is set to the settings.
std::vector<WebhookSpec> read_webhooks(const KeyValues& root, const ConfigPlace& place,
                                       FileProblems& problems, std::vector<Setting>& settings);

}  // namespace knell
