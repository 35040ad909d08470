#pragma once

#include <string_view>

#include <sys/types.h>

namespace knell {

/// Nobody but `owner` (and root) is in group `gid`: it is the owner's primary group, nobody else's,
/// and lists no other member.  What is not known counts as no.
///
/// Looks at this machine's own accounts.  A name service is not asked: it may take as long as it
/// likes, and this is asked before every run of a hook.
bool is_private_group(uid_t owner, gid_t gid);

/// Pure; the texts are as in passwd(5) and group(5).
bool is_private_group(std::string_view passwd, std::string_view groups, uid_t owner, gid_t gid);

}  // namespace knell
