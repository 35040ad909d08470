#include "platform/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace knell {

void hold_standard_descriptors() {
    // From below: what is opened gets the lowest number that is free.
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) continue;
        // The other way round, so that nobody can use it.
        const int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (::open("/dev/null", way | O_CLOEXEC) < 0) return;
    }
}

}  // namespace knell
