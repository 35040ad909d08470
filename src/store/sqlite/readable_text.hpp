#pragma once

#include <string>

namespace knell::sqlite {

/// A text of the store as it may be told: SQLite keeps any bytes, and another program may have
/// written some that are not UTF-8.  Each of those becomes U+FFFD.
std::string readable_text(std::string text);

/// Called once in the life of the process, by whichever thread reads such a text first.
void on_unreadable_text(void (*tell)());

}  // namespace knell::sqlite
