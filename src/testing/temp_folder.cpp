#include "testing/temp_folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/check.hpp"

namespace knell::testing {

TempFolder::TempFolder() : path_(std::filesystem::temp_directory_path() / "knell-test-XXXXXX") {
    // The six letters are mkdtemp's to replace.
    CHECK(mkdtemp(path_.data()) != nullptr);
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace knell::testing
