#pragma once

#include <chrono>

namespace knell::functional {

/// How long anything may take before a test gives up.  Only a bound: nothing waits that long when
/// all is well, and a loaded machine under sanitizers stays far below it.
inline constexpr std::chrono::milliseconds wait_max{30'000};

/// Waits until poll(2) reports one of `events`, an end or an error; throws past `wait_max`.
void wait_for(int fd, short events, const char* what);

}  // namespace knell::functional
