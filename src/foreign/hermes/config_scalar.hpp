#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/yaml.hpp"

/// What a value is to Hermes, which reads YAML 1.1: there `off` is false and 010 is eight.
namespace knell::hermes {

enum class ScalarKind : std::uint8_t { nothing, boolean, integer, real, text, list, map };

struct Scalar {
    ScalarKind kind = ScalarKind::nothing;
    bool truth = false;   // of a boolean
    double number = 0.0;  // of an integer and a real
};

Scalar hermes_scalar(const YamlNode& node);

/// "true", "Yes", "1", "on", as an environment variable says it.
bool says_yes(std::string_view text);

}  // namespace knell::hermes
