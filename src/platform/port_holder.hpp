#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace knell {

/// Who listens at a TCP port, for a message: "process 4242 (nginx)".  Nothing when that cannot be
/// seen, as of another user's process.
std::optional<std::string> find_port_holder(std::uint16_t port);

/// The inode of the socket that listens at that port, in the text of /proc/net/tcp or tcp6; "" when
/// none does.
std::string listening_inode(std::string_view table, std::uint16_t port);

}  // namespace knell
