#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/event_filter.hpp"

namespace knell {

/// Where a secret is; never the secret itself.  Read anew for each attempt, so that a rotation
/// needs no restart.
struct SecretPlace {
    std::string file;      // one of the two
    std::string variable;  // of the daemon's environment

    bool operator==(const SecretPlace&) const = default;
};

/// A webhook of the config.
struct WebhookSpec {
    std::string name;
    std::string url;
    EventFilter events;
    std::vector<SecretPlace> secrets;  // several while one is rotated: each signs
    bool allow_internal = false;       // private and link-local addresses
    std::chrono::seconds timeout{15};
    std::size_t concurrency = 1;
    std::vector<std::string> remarks;  // for people: events that knell never sends

    bool operator==(const WebhookSpec&) const = default;
};

}  // namespace knell
