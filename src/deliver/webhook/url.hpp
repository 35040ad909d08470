#pragma once

#include <string>

#include "config/webhook_spec.hpp"
#include "core/error.hpp"
#include "deliver/webhook/address_guard.hpp"

namespace knell {

/// What the webhook's URL lets it connect to.  An error when it is no URL that a webhook can have:
/// https to anywhere, http to loopback only.  Errors do not repeat the URL, whose path is often a
/// secret.
Result<AddressRule> address_rule(const WebhookSpec& spec);

}  // namespace knell
