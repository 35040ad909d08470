#include "client/directory_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>

namespace knell::client {

DirectoryWatch::DirectoryWatch(const std::string& directory)
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    ::inotify_add_watch(fd_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO);
}

void DirectoryWatch::wait(std::chrono::milliseconds step, const Deadline& deadline) {
    pollfd watched{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, deadline.poll_millis(step));
    clear();
}

void DirectoryWatch::clear() {
    // Only that there was something matters; what is left unread would wake the next wait at once.
    char events[4096];
    while (::read(fd_.get(), events, sizeof events) > 0) {
    }
}

}  // namespace knell::client
