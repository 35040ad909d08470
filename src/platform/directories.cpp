#include "platform/directories.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

namespace knell {

Result<void> make_private_directories(const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const auto part = path.substr(0, end);
        // Another process may make it at the same moment; EEXIST is success.  EROFS and EACCES are
        // what mkdir may answer for a parent that does exist.
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && end == std::string::npos) {
            return fail(ErrorCode::storage, fmt::format("cannot make the directory {}: {}", path,
                                                        std::generic_category().message(errno)));
        }
        if (end == std::string::npos) return {};
    }
}

}  // namespace knell
