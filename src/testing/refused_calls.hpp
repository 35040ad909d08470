#pragma once

#include <functional>
#include <vector>

// UndefinedBehaviorSanitizer looks at memory through pipes.  Where a test would deny it these, it
// is left out: #ifndef KNELL_NEEDS_DESCRIPTORS.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define KNELL_NEEDS_DESCRIPTORS
#endif
#endif

namespace knell::testing {

/// Runs `work` on a thread for which the kernel answers these system calls with `error`, and waits
/// for it.  For failures that no argument brings about: no descriptor left, no memory, a sandbox.
void with_refused_calls(const std::vector<long>& calls, int error,
                        const std::function<void()>& work);

}  // namespace knell::testing
