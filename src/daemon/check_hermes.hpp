#pragma once

#include <string>
#include <string_view>

#include "wire/config_report.hpp"

namespace knell {

/// Adds what is wrong with a config.yaml of Hermes.  `path` is where it stands, so that the .env
/// beside it is looked at too; "" for a text that stands nowhere.
void check_hermes(ConfigReport& report, std::string_view text, const std::string& path);

}  // namespace knell
