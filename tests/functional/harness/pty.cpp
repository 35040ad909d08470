#include "functional/harness/pty.hpp"

#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "functional/harness/process.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {

Pty::Pty() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) {
        throw std::runtime_error("cannot make a terminal");
    }
    slave = Fd{::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

void Pty::type(std::string_view bytes) const {
    if (::write(master.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("cannot type");
    }
}

void Pty::wait_until_shown(std::string_view text) {
    while (!shown.contains(text)) {
        wait_for(master.get(), POLLIN, "a text on the terminal");
        if (!read_available(master.get(), shown)) {
            throw std::runtime_error("the command ended before \"" + std::string(text) +
                                     "\" was shown, only: " + shown);
        }
    }
}

void Pty::resize(unsigned short rows, unsigned short columns) const {
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::ioctl(master.get(), TIOCSWINSZ, &size) != 0) throw std::runtime_error("cannot resize");
}

termios Pty::mode() const {
    termios mode{};
    if (::tcgetattr(master.get(), &mode) != 0) throw std::runtime_error("no terminal");
    return mode;
}

}  // namespace knell::functional
