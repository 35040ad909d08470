#pragma once

#include <string_view>

namespace knell {

/// hermes_shim.py: what `python3 -c` runs to call a handler.py that was written for Hermes.
extern const std::string_view hermes_shim;

}  // namespace knell
