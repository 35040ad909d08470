#pragma once

#include <cstdint>
#include <expected>
#include <optional>
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

/// What becomes of an alias (*name).
enum class Aliases : std::uint8_t {
    refused,
    followed,  // a copy of what it stands for, with places of its own inside; within the bounds
};

/// One document, of what YAML has only what a config needs: a key that is not text, a second
/// document and anything past the bounds are refused.  `file` is for the problem.
std::expected<YamlNode, FileProblem> parse_yaml(std::string_view text, std::string_view file,
                                                Aliases aliases = Aliases::refused);

/// true or false, as YAML 1.2 spells them without quotes; nothing for anything else.
std::optional<bool> yaml_boolean(std::string_view plain);

/// A scalar that every program which reads YAML takes for a text: in quotes, or neither a number
/// nor true or false.
bool is_yaml_text(const YamlNode& node);

}  // namespace knell
