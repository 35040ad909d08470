#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include "core/error.hpp"

namespace knell::bench {

/// A benchmark that cannot be run.  An exception and not a Result, here alone: whatever goes wrong
/// has the same consequence, the row says so and the next benchmark starts, and destructors end the
/// daemon and remove its files on the way.
class Failed : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

template <typename T>
T must(Result<T> result) {
    if (!result) throw Failed(result.error().message);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// For calls that set errno.
inline void must(bool succeeded, const std::string& what) {
    if (!succeeded) throw Failed(what + ": " + std::generic_category().message(errno));
}

}  // namespace knell::bench
