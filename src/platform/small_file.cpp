#include "platform/small_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {

std::optional<std::string> read_small_file(const std::string& path) {
    return read_small_file_in(AT_FDCWD, path.c_str());
}

std::optional<std::string> read_small_file_in(int folder, const char* path) {
    const Fd file(openat(folder, path, O_RDONLY | O_CLOEXEC));
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

Result<std::string> read_regular_file(const std::string& path, std::size_t bytes_max) {
    const auto cannot = [](int error) {
        return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::storage,
                    fmt::format("cannot be read: {}", std::generic_category().message(error)));
    };
    // A pipe would keep us waiting for somebody to write.
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return cannot(errno);
    struct stat found{};
    if (fstat(file.get(), &found) != 0) return cannot(errno);
    if (!S_ISREG(found.st_mode)) {
        return fail(ErrorCode::storage, "is not a regular file");
    }
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.size() <= bytes_max) {
        const auto got = read(file.get(), buffer.data(), buffer.size());
        if (got < 0) return cannot(errno);
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return fail(ErrorCode::limit,
                fmt::format("is larger than {} bytes; remove what is not needed", bytes_max));
}

}  // namespace knell
