#include "testing/fifo.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace knell::testing {

namespace {

/// A safety net only: nothing that works takes this long.
constexpr int patience_millis = 20'000;

bool becomes_ready(int fd, short events) {
    pollfd descriptor{.fd = fd, .events = events, .revents = 0};
    return ::poll(&descriptor, 1, patience_millis) > 0;
}

}  // namespace

std::string read_line(const Fd& fifo) {
    std::string line;
    for (char byte = 0; becomes_ready(fifo.get(), POLLIN) && ::read(fifo.get(), &byte, 1) == 1;) {
        if (byte == '\n') return line;
        line += byte;
    }
    return {};
}

void write_line(const Fd& fifo) {
    EXPECT_EQ(::write(fifo.get(), "\n", 1), 1);
}

bool is_let_go(const Fd& reader) {
    pollfd descriptor{.fd = reader.get(), .events = 0, .revents = 0};
    return ::poll(&descriptor, 1, patience_millis) > 0 && (descriptor.revents & POLLHUP) != 0;
}

}  // namespace knell::testing
