#pragma once

#include <string>
#include <vector>

#include "config/file_problem.hpp"
#include "config/webhook_spec.hpp"
#include "config/yaml_fields.hpp"

namespace knell {

/// What a path in the config is relative to.
struct ConfigPlace {
    std::string config_file;  // absolute
    std::string home;
};

/// The `webhooks` of the config.  What is wrong goes to the problems.
std::vector<WebhookSpec> read_webhooks(YamlFields& root, FileProblems& problems,
                                       const ConfigPlace& place);

}  // namespace knell
