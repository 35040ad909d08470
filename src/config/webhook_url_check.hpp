#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// Nothing when events may be sent there: https, or http that does not leave this machine, and
/// nothing in it that would be logged or lost.  Never quotes the address: it may hold a token.
std::optional<std::string> why_not_a_webhook_url(std::string_view url);

/// The same for another daemon's HTTP gateway, to which a path is added.
std::optional<std::string> why_not_a_gateway_url(std::string_view url);

}  // namespace knell
