#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace knell {

/// What a person wrote on a session.
struct Labels {
    std::string title;
    bool pinned = false;  // to be kept, whatever is cleaned up

    bool operator==(const Labels&) const = default;
};

/// One text of both, for a column.
inline std::string to_text(const Labels& labels) {
    return (labels.pinned ? "pinned " : "- ") + labels.title;
}
inline Labels labels_from_text(std::string_view text) {
    const auto mark = text.substr(0, text.find(' '));
    const auto title = text.substr(std::min(mark.size() + 1, text.size()));
    return {.title = std::string(title), .pinned = mark == "pinned"};
}

}  // namespace knell
