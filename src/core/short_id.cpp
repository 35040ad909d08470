#include "core/short_id.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/uuid.hpp"

namespace knell {

namespace {

constexpr std::size_t minted_min = 8;
constexpr std::size_t named_min = 16;

std::size_t common_length(std::string_view one, std::string_view other) {
    return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

}  // namespace

std::string short_id(const SessionId& id, const SessionId& before, const SessionId& after) {
    const std::string_view text = id.text();
    const auto shared =
        std::max(common_length(text, before.text()), common_length(text, after.text()));
    auto length = std::max(shared + 1, parse_uuid(text) ? minted_min : named_min);
    // A dash at its end looks as if it was cut in two.
    while (length < text.size() && text[length - 1] == '-') ++length;
    return std::string(text.substr(0, length));
}

}  // namespace knell
