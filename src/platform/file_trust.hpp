#pragma once

#include <string>

#include "core/error.hpp"

namespace knell {

/// Only we and root can change what `path` names: it is owned by one of the two and not writable by
/// everybody.  A link is followed.  For what is about to be run as us.  The error says what is
/// wrong with it; to name it is the caller's.
Result<void> check_only_ours(const std::string& path);

}  // namespace knell
