#include "testing/folder_state.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>

namespace knell::testing {

std::string folder_state(const std::string& folder) {
    std::set<std::string> lines;
    const auto describe = [&](const std::filesystem::path& path) {
        struct stat seen{};
        ::lstat(path.c_str(), &seen);
        std::string bytes;
        if (S_ISREG(seen.st_mode)) {
            std::ifstream file(path, std::ios::binary);
            bytes.assign(std::istreambuf_iterator<char>(file), {});
        }
        lines.insert(fmt::format("{} {} {:o} {} {}.{} {}.{} {}", path.string(), seen.st_ino,
                                 seen.st_mode, seen.st_size, seen.st_mtim.tv_sec,
                                 seen.st_mtim.tv_nsec, seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec,
                                 bytes));
    };
    describe(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        describe(entry.path());
    }
    std::string state;
    for (const auto& line : lines) state += line + "\n";
    return state;
}

}  // namespace knell::testing
