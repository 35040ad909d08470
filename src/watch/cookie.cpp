#include "watch/cookie.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace knell {

Cookie cookie_in(std::string_view environment) {
    Cookie cookie;
    const auto take = [](std::string_view entry, std::string_view name, std::string& value) {
        // The first counts, as for getenv(3).
        if (value.empty() && entry.starts_with(name)) value = entry.substr(name.size());
    };
    while (!environment.empty()) {
        const auto end = std::min(environment.find('\0'), environment.size());
        const auto entry = environment.substr(0, end);
        environment.remove_prefix(std::min(end + 1, environment.size()));
        take(entry, "KNELL_SESSION_ID=", cookie.session_id);
        take(entry, "KNELL_GENERATION=", cookie.generation);
        take(entry, "KNELL_SOCKET=", cookie.socket);
        take(entry, "KNELL_PROCESS_ID=", cookie.process_id);
    }
    return cookie;
}

bool is_same_socket(pid_t pid, const std::string& socket, const std::string& ours,
                    const ProcessTree& tree) {
    return tree.is_same_file(socket, ours) ||
           tree.is_same_file(fmt::format("/proc/{}/root{}", pid, socket), ours);
}

}  // namespace knell
