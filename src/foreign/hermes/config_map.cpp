#include "foreign/hermes/config_map.hpp"

#include <algorithm>
#include <ranges>

#include "base/text.hpp"

namespace knell::hermes {

namespace {

const YamlNode* find_in(const YamlNode& map, std::string_view name) {
    if (map.kind != YamlNode::Kind::map) return nullptr;
    const auto backwards = std::views::reverse(map.items);
    const auto found = std::ranges::find(backwards, name, &YamlNode::key);
    if (found != backwards.end()) return &*found;
    const auto merged = std::ranges::find(map.items, "<<", &YamlNode::key);
    if (merged == map.items.end()) return nullptr;
    if (merged->kind == YamlNode::Kind::map) return find_in(*merged, name);
    for (const auto& one : merged->items) {
        if (const auto* inner = find_in(one, name)) return inner;
    }
    return nullptr;
}

}  // namespace

const YamlNode* HermesMap::find(std::string_view name) const {
    const auto* found = find_in(map_, name);
    return found == nullptr || found->kind == YamlNode::Kind::nothing ? nullptr : found;
}

const YamlNode* HermesMap::find_map(std::string_view name) const {
    const auto* found = find(name);
    if (found == nullptr || found->kind == YamlNode::Kind::map) return found;
    reject(*found, name, "must be keys with values; write them as `key: value`, one below another");
    return nullptr;
}

std::string shown_key(std::string_view key) {
    constexpr std::size_t shown_max = 40;
    if (!is_utf8(key) || has_control_character(key)) return "(this key)";
    return key.size() <= shown_max ? std::string(key) : "(this long key)";
}

}  // namespace knell::hermes
