#pragma once

#include <string>
#include <string_view>

#include "config/webhook_spec.hpp"
#include "core/error.hpp"

namespace knell {

/// Errors of all three name the place and what is expected there, never a byte of the secret.

/// The text at a place, without line ends and blanks after it.  A file must be an ordinary one that
/// only its owner can read.
Result<std::string> read_secret(const SecretPlace& place);

/// The key in "whsec_" and base64, as Standard Webhooks writes it: 24 to 64 bytes.
Result<std::string> decode_secret(std::string_view secret);

/// Both.
Result<std::string> read_signing_key(const SecretPlace& place);

}  // namespace knell
