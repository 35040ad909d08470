#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Rules that texts of config.yaml must keep.  Nothing when one will do; a message never quotes it:
/// people paste the secret where its place belongs.
namespace knell {

std::optional<std::string> why_not_a_secret_file(std::string_view text);
std::optional<std::string> why_not_a_secret_variable(std::string_view text);

}  // namespace knell
