#include "platform/output_pipe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>

#include "platform/shortage.hpp"

namespace knell {

namespace {

std::unexpected<Error> cannot(std::string_view what) {
    const int error = errno;
    return fail(is_shortage(error) ? ErrorCode::limit : ErrorCode::internal,
                fmt::format("cannot {}: {}", what, std::generic_category().message(error)));
}

}  // namespace

Result<OutputPipe> open_output_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("open a pipe for its output");
    OutputPipe pipe{Fd{ends[0]}, Fd{ends[1]}};
    if (fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) != 0) return cannot("read its output");
    return pipe;
}

void read_output(Fd& reader, std::size_t bytes_max,
                 const std::function<void(std::string_view)>& take) {
    std::array<char, 64U << 10U> chunk;
    while (reader && bytes_max > 0) {
        const auto size = ::read(reader.get(), chunk.data(), std::min(chunk.size(), bytes_max));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) return reader.reset();
        take({chunk.data(), static_cast<std::size_t>(size)});
        bytes_max -= static_cast<std::size_t>(size);
    }
}

}  // namespace knell
