#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/search_terms.hpp"

namespace knell {

/// A piece of a text on one line, around what was looked for in it.
struct Snippet {
    struct Mark {
        std::int64_t start = 0;  // in characters, as Unicode counts them
        std::int64_t length = 0;

        bool operator==(const Mark&) const = default;
    };
    std::string text;         // with an ellipsis where something was left out
    std::vector<Mark> marks;  // what was found, rising; they do not touch

    bool operator==(const Snippet&) const = default;
};

/// Where most of what was found stands together.  `spans` rise and lie within the text.  Pure.
Snippet make_snippet(std::string_view text, std::span<const TextSpan> spans);

}  // namespace knell
