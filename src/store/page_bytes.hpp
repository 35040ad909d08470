#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/event.hpp"
#include "core/session.hpp"

namespace knell {

/// About how many bytes each becomes on the wire: what pages are bounded by.  Names of fields and
/// numbers are counted as one sum.

inline std::size_t page_bytes(const std::vector<Leftover>& leftovers) {
    std::size_t bytes = 0;
    for (const auto& leftover : leftovers) {
        bytes += 100 + leftover.command.size() + leftover.found_by.size();
    }
    return bytes;
}

inline std::size_t page_bytes(const std::optional<End>& end) {
    if (!end) return 0;
    return 300 + end->detail.size() + end->evidence.size() + page_bytes(end->leftovers);
}

inline std::size_t page_bytes(const Session& session) {
    return 800 + session.id.text().size() + session.key.size() + session.source.size() +
           session.platform.size() + session.user_id.size() + session.parent_id.text().size() +
           session.model.size() + session.title.size() + session.cwd.size() + session.meta.size() +
           session.owner.host.size() + page_bytes(session.end);
}

inline std::size_t page_bytes(const Event& event) {
    return 400 + 2 * event.session_id.text().size() + event.session_key.size() +
           event.platform.size() + event.user_id.size() + event.source.size() +
           event.parent_id.text().size() + event.detail.size() + page_bytes(event.end);
}

inline std::size_t page_bytes(const Message& message) {
    return 100 + message.role.size() + message.content.size() + message.tool_name.size();
}

}  // namespace knell
