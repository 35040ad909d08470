#include "client/directory_watch.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>

#include "testing/temp_folder.hpp"

namespace knell::client {
namespace {

bool is_readable(int fd) {
    pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 0) == 1;
}

TEST(DirectoryWatch, WakesForWhatWasMadeBeforeTheWaitToo) {
    const knell::testing::TempFolder folder;
    DirectoryWatch watch(folder.path());
    std::ofstream(folder.path() + "/knell.sock") << "";
    const Deadline deadline{std::chrono::hours{1}};

    watch.wait(std::chrono::hours{1}, deadline);  // the test would hang if it did not
}

TEST(DirectoryWatch, IsReadableAfterAChangeUntilItIsCleared) {
    const knell::testing::TempFolder folder;
    DirectoryWatch watch(folder.path());
    EXPECT_FALSE(is_readable(watch.fd()));

    std::ofstream(folder.path() + "/knell.sock") << "";
    EXPECT_TRUE(is_readable(watch.fd()));

    watch.clear();
    EXPECT_FALSE(is_readable(watch.fd()));
}

TEST(DirectoryWatch, AMissingDirectoryIsWaitedOutNotAFailure) {
    DirectoryWatch watch("/nonexistent/knell");
    EXPECT_FALSE(is_readable(watch.fd())) << "a wait on it would not last";

    watch.wait(std::chrono::hours{1}, Deadline{std::chrono::milliseconds{0}});  // not past that
}

}  // namespace
}  // namespace knell::client
