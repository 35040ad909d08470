#include "client/directory_watch.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace knell::client {
namespace {

TEST(DirectoryWatch, WakesForWhatWasMadeBeforeTheWaitToo) {
    std::string name = testing::TempDir() + "knell-watch-XXXXXX";
    const std::string directory = ::mkdtemp(name.data());
    DirectoryWatch watch(directory);
    std::ofstream(directory + "/knell.sock") << "";
    const Deadline deadline{std::chrono::hours{1}};

    watch.wait(std::chrono::hours{1}, deadline);  // the test would hang if it did not

    std::filesystem::remove_all(directory);
}

TEST(DirectoryWatch, AMissingDirectoryIsWaitedOutNotAFailure) {
    DirectoryWatch watch("/nonexistent/knell");

    watch.wait(std::chrono::milliseconds{0}, Deadline{std::chrono::milliseconds{0}});
}

}  // namespace
}  // namespace knell::client
