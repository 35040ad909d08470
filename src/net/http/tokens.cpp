#include "net/http/tokens.hpp"

#include <algorithm>
#include <cstdint>

namespace knell::net::http {

namespace {

/// Looks at every byte of what was given.  How long ours are is no secret.
bool equals(std::string_view given, std::string_view ours) {
    volatile std::uint8_t difference = given.size() == ours.size() && !ours.empty() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = ours.empty() ? '\0' : ours[i % ours.size()];
        difference =
            static_cast<std::uint8_t>(difference | static_cast<std::uint8_t>(given[i] ^ other));
    }
    return difference == 0;
}

}  // namespace

std::string_view bearer_token(std::string_view authorization) {
    constexpr std::string_view scheme = "bearer ";
    if (authorization.size() <= scheme.size()) return {};
    for (std::size_t i = 0; i < scheme.size(); ++i) {
        const char c = authorization[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != scheme[i]) return {};
    }
    auto token = authorization.substr(scheme.size());
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    return token;
}

std::optional<rpc::Access> access_by(std::string_view token, const Tokens& tokens) {
    // Both are compared, whatever the first says.
    const bool is_full = equals(token, tokens.full);
    const bool is_read_only = equals(token, tokens.read_only);
    if (is_full) return rpc::Access::full;
    if (is_read_only) return rpc::Access::read_only;
    return std::nullopt;
}

}  // namespace knell::net::http
