#pragma once

#include <functional>
#include <string>

namespace knell {

/// What the name of the machine's time zone is found by: handed in, so that a test needs no
/// machine of its own.
struct LocalZoneSources {
    std::function<std::string(const char*)> variable;            // "" when unset
    std::function<std::string(const std::string&)> link_target;  // "" when it is no link
    std::function<std::string(const std::string&)> file;         // "" when it cannot be read
};

/// The IANA name of the zone that this machine's clocks show: what TZ names, else what
/// /etc/localtime leads to, else what stands in /etc/timezone; "" where none of them says.
std::string local_zone();
/// Pure.
std::string local_zone(const LocalZoneSources& sources);

}  // namespace knell
