#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "config/webhook_spec.hpp"
#include "core/error.hpp"

namespace knell {

/// What a signature covers, and the headers that a receiver needs to check it.
struct SignedMessage {
    std::string_view id;          // webhook-id: the same over attempts; holds no dot
    std::int64_t timestamp_s{0};  // webhook-timestamp: of this attempt
    std::string_view body;
};

/// "v1," and the base64 of an HMAC-SHA256, as Standard Webhooks 1.0.0 has it.
std::string sign(const SignedMessage& message, std::string_view key);

/// The webhook-signature header: one signature a secret, so that a receiver can change from one
/// secret to the next whenever it likes.  All secrets or none: half of them would fail receivers
/// at random.
Result<std::string> signature_header(const SignedMessage& message,
                                     const std::vector<SecretPlace>& secrets);

}  // namespace knell
