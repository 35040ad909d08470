#pragma once

namespace knell {

/// Ends the process with a message.  Used by CHECK only.
[[noreturn]] void check_failed(const char* what, const char* file, int line);

}  // namespace knell

/// Always on, release builds included: a broken invariant must stop the daemon before it can write
/// a wrong end.  For what can happen use Result.
#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) [[unlikely]]                             \
            ::knell::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)
