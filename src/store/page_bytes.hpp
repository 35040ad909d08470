#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/background_process.hpp"
#include "core/event.hpp"
#include "core/session.hpp"

namespace knell {

/// About how many bytes each becomes on the wire: what pages are bounded by.  Names of fields and
/// numbers are counted as one sum.

inline std::size_t page_bytes(const std::vector<Leftover>& leftovers) {
    std::size_t bytes = 0;
    for (const auto& leftover : leftovers) {
        bytes += 100 + leftover.command.size() + leftover.found_by.size() +
                 leftover.process_id.text().size();
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
           session.owner.host.size() + session.park_why.size() + session.chat_type.size() +
           session.suspend_why.size() + page_bytes(session.end);
}

inline std::size_t page_bytes(const BackgroundProcess& process) {
    std::size_t bytes = 500 + process.id.text().size() + process.session_id.text().size() +
                        process.task_id.size() + process.cwd.size() + process.title.size() +
                        process.activity.evidence.size() + process.stop_asked_by.size();
    // Once as words and once as a line for people.
    for (const auto& word : process.argv) bytes += 2 * word.size() + 4;
    if (process.exit) bytes += 200 + process.exit->evidence.size();
    return bytes;
}

inline std::size_t page_bytes(const std::vector<Blocker>& blockers) {
    std::size_t bytes = 0;
    for (const auto& blocker : blockers) {
        bytes += 250 + blocker.process_id.text().size() + blocker.command.size();
    }
    return bytes;
}

inline std::size_t page_bytes(const Event& event) {
    return 400 + 2 * event.session_id.text().size() + event.session_key.size() +
           event.platform.size() + event.user_id.size() + event.source.size() +
           event.parent_id.text().size() + event.detail.size() + page_bytes(event.end) +
           (event.process ? page_bytes(*event.process) : 0) + page_bytes(event.blockers) +
           (event.compression ? 100 + event.compression->provider.size() : 0) +
           (event.stuck ? 200 + event.stuck->tool.size() + event.stuck->other_tool.size() +
                              event.stuck->error.size()
                        : 0);
}

inline std::size_t page_bytes(const Message& message) {
    return 100 + message.role.size() + message.content.size() + message.tool_name.size();
}

}  // namespace knell
