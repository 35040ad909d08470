#include "functional/harness/waiting.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>

#include <poll.h>

namespace knell::functional {

void wait_for(int fd, short events, const char* what) {
    for (;;) {
        pollfd watched{.fd = fd, .events = events, .revents = 0};
        const int count = ::poll(&watched, 1, static_cast<int>(wait_max.count()));
        if (count > 0) return;
        if (count == 0) throw std::runtime_error(std::string("waited in vain for ") + what);
        if (errno != EINTR) throw std::runtime_error(std::string("cannot wait for ") + what);
    }
}

}  // namespace knell::functional
