#include "platform/new_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/directories.hpp"
#include "platform/fd.hpp"

namespace knell {

namespace {

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
}

}  // namespace

Result<void> write_new_file(const std::string& path, std::string_view text) {
    const auto directory = std::filesystem::path(path).parent_path().string();
    if (auto made = make_private_directories(directory); !made) return made;
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) {
        return fail(ErrorCode::blocked, fmt::format("{} is there already", path));
    }
    const auto refuse = [&](int why) {
        return fail(ErrorCode::storage,
                    fmt::format("cannot write {}: {}", path, std::generic_category().message(why)));
    };
    if (!file) return refuse(errno);
    // The umask may have taken more than group and others.
    if (::fchmod(file.get(), 0600) == 0 && write_all(file.get(), text)) return {};
    const auto why = errno;
    ::unlink(path.c_str());
    return refuse(why);
}

}  // namespace knell
