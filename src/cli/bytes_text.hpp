#pragma once

#include <cstdint>
#include <string>

namespace knell::cli {

/// "512 bytes", "1.3 MB".
std::string format_bytes(std::int64_t bytes);

}  // namespace knell::cli
