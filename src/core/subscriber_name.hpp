#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// The name of a hook or webhook appears in commands, logs and tables.  Nothing when it will do.
std::optional<std::string> why_not_a_subscriber_name(std::string_view name);

}  // namespace knell
