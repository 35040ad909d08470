#pragma once

#include <string>
#include <string_view>

namespace knell::cli {

/// The text as the last argument of a command that is printed for a person to type: in quotes where
/// a shell would make something else of it, and behind `--` where knell would take it for an
/// option.
std::string shell_argument(std::string_view text);

}  // namespace knell::cli
