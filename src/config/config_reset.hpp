#pragma once

#include <memory>
#include <vector>

#include "config/key_reader.hpp"
#include "reset/reset_policies.hpp"

namespace knell {

// For bindings: what a key of `session_reset`, or of an override, does to its policy.
void set_reset_mode(ResetPolicy& policy, Value&& value);
void set_reset_idle(ResetPolicy& policy, Value&& value);
void set_reset_time(ResetPolicy& policy, Value&& value);
/// A zone by its name; the machine's own is known to `read_reset_policies`.
void set_reset_zone(ResetPolicy& policy, Value&& value);
void set_on_reset(ResetPolicy& policy, Value&& value);

/// The policies of `session_reset`: `base` is what its own keys say, and stands in the settings
/// already; the overrides are read from the root.  What is wrong goes to the problems, what is set
/// to the settings.
std::shared_ptr<const ResetPolicies> read_reset_policies(ResetPolicy base, const KeyValues& root,
                                                         const ConfigPlace& place,
                                                         FileProblems& problems,
                                                         std::vector<Setting>& settings);

}  // namespace knell
