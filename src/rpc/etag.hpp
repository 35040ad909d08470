#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace knell::rpc {

/// A strong entity tag, with its quotes.
std::string etag_of(std::uint64_t hash);

/// Whether an If-None-Match header names that tag: then the answer is 304.  RFC 9110: a list, or *
/// for any; compared weakly, so W/ before a tag does not matter.  What cannot be read matches
/// nothing.
bool is_match(std::string_view if_none_match, std::string_view etag);

}  // namespace knell::rpc
