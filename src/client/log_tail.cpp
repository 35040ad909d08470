#include "client/log_tail.hpp"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "platform/fd.hpp"

namespace knell::client {

namespace {

constexpr std::size_t tail_bytes_max = 16U << 10U;

}  // namespace

std::string last_lines(std::string_view text, std::size_t count) {
    std::vector<std::string_view> lines;
    while (!text.empty() && lines.size() < count) {
        const auto newline = text.rfind('\n');
        const auto start = newline == std::string_view::npos ? 0 : newline + 1;
        if (start < text.size()) lines.push_back(text.substr(start));
        text = text.substr(0, start == 0 ? 0 : start - 1);
    }
    std::string joined;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (!joined.empty()) joined += '\n';
        joined += *line;
    }
    return joined;
}

std::size_t log_size(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return 0;
    return static_cast<std::size_t>(status.st_size);
}

std::string log_tail(const std::string& path, std::size_t start, std::size_t count) {
    const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd) return {};
    const auto size = log_size(path);
    if (size < start) start = 0;  // it was rotated meanwhile
    start = std::max(start, size - std::min(size, tail_bytes_max));
    std::string text(size - start, '\0');
    const auto got = ::pread(fd.get(), text.data(), text.size(), static_cast<off_t>(start));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return last_lines(text, count);
}

}  // namespace knell::client
