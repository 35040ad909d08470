#pragma once

#include <string>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell::net {

/// A listening unix socket at `path`, 0600 in a directory that is ours alone.  A path longer than
/// sockaddr_un holds works too.
Result<Fd> listen_unix(const std::string& path);

}  // namespace knell::net
