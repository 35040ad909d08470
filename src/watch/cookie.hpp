#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include "watch/process_tree.hpp"

namespace knell {

/// What marks the processes of a session, in the environment they were started with: all that they
/// start inherit it, unless they scrub it.  "": not there.
struct Cookie {
    std::string session_id;
    std::string generation;
    std::string socket;
    std::string process_id;  // of the background process that it belongs to

    bool is_of_session() const {
        return !session_id.empty() && !generation.empty() && !socket.empty();
    }
    bool operator==(const Cookie&) const = default;
};

/// `environment`: NAME=value, each with a zero behind it.
Cookie cookie_in(std::string_view environment);

/// Whether `socket`, as process `pid` names it, is `ours`: the same path may lead elsewhere for a
/// process that sees other mounts.
bool is_same_socket(pid_t pid, const std::string& socket, const std::string& ours,
                    const ProcessTree& tree);

}  // namespace knell
