#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"

namespace knell {

/// A part of a YAML document, and where it stands.
struct YamlNode {
    enum class Kind : std::uint8_t { nothing, text, list, map };

    Kind kind = Kind::nothing;
    TextPlace place;              // of its key, when it has one
    std::string key;              // its name in the map around it
    std::string text;             // of a scalar, as it is written
    bool is_quoted = false;       // "5" is a text, 5 may be a number
    std::vector<YamlNode> items;  // of a list or a map, in order
};

/// One document, of what YAML has only what a config needs: an alias, a key that is not text, a
/// second document and anything past the bounds are refused.  `file` is for the problem.
std::expected<YamlNode, FileProblem> parse_yaml(std::string_view text, std::string_view file);

}  // namespace knell
