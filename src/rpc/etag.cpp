#include "rpc/etag.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace knell::rpc {

namespace {

void skip(std::string_view& text, std::string_view characters) {
    text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

}  // namespace

std::string etag_of(std::uint64_t hash) {
    return fmt::format("\"{:016x}\"", hash);
}

bool is_match(std::string_view if_none_match, std::string_view etag) {
    skip(if_none_match, " \t");
    if (if_none_match == "*") return true;
    while (!if_none_match.empty()) {
        if (if_none_match.starts_with("W/")) if_none_match.remove_prefix(2);
        if (!if_none_match.starts_with('"')) return false;
        const auto end = if_none_match.find('"', 1);
        if (end == std::string_view::npos) return false;
        if (if_none_match.substr(0, end + 1) == etag) return true;
        if_none_match.remove_prefix(end + 1);
        skip(if_none_match, ", \t");
    }
    return false;
}

}  // namespace knell::rpc
