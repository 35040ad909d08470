#pragma once

#include <array>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell::testing {

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        reader = Fd{ends[0]};
        writer = Fd{ends[1]};
    }
    pollfd readable() const { return {.fd = reader.get(), .events = POLLIN, .revents = 0}; }
    /// All that is written to it, once nobody else can write.
    std::string text() {
        writer.reset();
        std::string all;
        std::array<char, 4096> chunk{};
        for (ssize_t size = 0; (size = ::read(reader.get(), chunk.data(), chunk.size())) > 0;) {
            all.append(chunk.data(), static_cast<std::size_t>(size));
        }
        return all;
    }

    Fd reader;
    Fd writer;
};

}  // namespace knell::testing
