#include "testing/shared_file.hpp"

#include <cstdlib>
#include <filesystem>

namespace knell::testing {

std::optional<std::string> shared_file(const std::string& name) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto* named = std::getenv("KNELL_SHARED");  // NOLINT(concurrency-mt-unsafe)
    if (named != nullptr && *named != '\0') {
        const auto path = fs::path(named) / name;
        if (fs::exists(path, error)) return path.string();
        return std::nullopt;
    }
    // From the working directory of a test, which is somewhere below the build folder.
    for (auto folder = fs::current_path(error); folder != folder.root_path();
         folder = folder.parent_path()) {
        const auto path = folder / "shared" / name;
        if (fs::exists(path, error)) return path.string();
    }
    return std::nullopt;
}

}  // namespace knell::testing
