#include "platform/terminal.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "platform/environment.hpp"

namespace knell {

namespace {

constexpr std::size_t width_default = 80;

std::size_t width_of(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return width_default;
    return size.ws_col;
}

}  // namespace

bool is_terminal(int fd) {
    return ::isatty(fd) == 1;
}

std::size_t terminal_rows(int fd) {
    constexpr std::size_t rows_default = 24;
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return rows_default;
    return size.ws_row;
}

bool wants_colour(bool interactive, std::string_view no_color, std::string_view term) {
    return interactive && no_color.empty() && !term.empty() && term != "dumb";
}

Terminal describe_terminal(int fd) {
    Terminal terminal;
    terminal.interactive = is_terminal(fd);
    terminal.colour = wants_colour(terminal.interactive, environment_variable("NO_COLOR"),
                                   environment_variable("TERM"));
    if (terminal.interactive) terminal.width = width_of(fd);
    return terminal;
}

bool needs_carriage_returns(int fd) {
    termios mode{};
    if (::tcgetattr(fd, &mode) != 0) return false;
    return (mode.c_oflag & OPOST) == 0 || (mode.c_oflag & ONLCR) == 0;
}

bool has_controlling_terminal() {
    const int fd = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    // Without descriptors nobody can tell; a terminal that may be there is not called lost.
    if (fd < 0) return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    ::close(fd);
    return true;
}

}  // namespace knell
