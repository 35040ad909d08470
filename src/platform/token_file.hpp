#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "platform/paths.hpp"

/// What HTTP clients show to be let in, each in a file that only its owner can read.
namespace knell {

enum class TokenKind : std::uint8_t { full, read_only };

/// state_dir/token or state_dir/token.read
std::string token_path(const Paths& paths, TokenKind kind);

/// `not_found` when there is none; `unauthorized` when others can get at it: then it is no secret
/// any more.  No error holds a byte of it.
Result<std::string> read_token(const std::string& path);

/// The same; made when there is none.
Result<std::string> read_or_make_token(const std::string& path);

/// Puts a new one in its place, whatever was there.
Result<std::string> rotate_token(const std::string& path);

}  // namespace knell
