#pragma once

#include <string>

#include "client/deadline.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell::client {

/// Connects to a unix socket of this user.  A path may be longer than sockaddr_un can hold.
///
/// `unreachable` means that nobody listens there; a daemon that runs but cannot be used is another
/// error.
Result<Fd> connect_socket(const std::string& path, const Deadline& deadline);

}  // namespace knell::client
