#pragma once

#include <string>

#include "config/webhook_spec.hpp"
#include "core/error.hpp"
#include "deliver/webhook/address_guard.hpp"

namespace knell {

/// What a URL lets us connect to.  An error when it is none that we ask: https to anywhere, http to
/// loopback only.  Errors do not repeat the URL, whose path is often a secret.
Result<AddressRule> address_rule(const std::string& url, bool allow_internal);

/// The same of a webhook's.
Result<AddressRule> address_rule(const WebhookSpec& spec);

}  // namespace knell
