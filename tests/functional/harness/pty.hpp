#pragma once

#include <string>
#include <string_view>

#include <termios.h>

#include "platform/fd.hpp"

namespace knell::functional {

/// A terminal: what is written to `master` is typed, and closing it hangs up.
struct Pty {
    Pty();

    void type(std::string_view bytes) const;
    /// Reads what is shown until `text` is in it; throws when whoever held the terminal is gone.
    void wait_until_shown(std::string_view text);
    void resize(unsigned short rows, unsigned short columns) const;
    /// As it is now, whoever set it.
    termios mode() const;

    Fd master;
    Fd slave;
    std::string shown;
};

}  // namespace knell::functional
