#include "platform/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {

std::optional<std::string> read_small_file(const std::string& path) {
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::string text;
    char buffer[4096];
    for (;;) {
        const auto got = read(file.get(), buffer, sizeof buffer);
        if (got < 0) return std::nullopt;
        if (got == 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace knell
