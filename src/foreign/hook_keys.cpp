#include "foreign/hook_keys.hpp"

#include "core/subscriber_name.hpp"

namespace knell::foreign {

std::optional<std::string> why_not_a_hook_name(std::string_view name) {
    return name.empty() ? std::nullopt : why_not_a_subscriber_name(name);
}

}  // namespace knell::foreign
