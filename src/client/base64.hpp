#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knell::client {

/// The bytes of a base64 text as the daemon writes it: RFC 4648, with padding.  Nothing when it is
/// none.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace knell::client
