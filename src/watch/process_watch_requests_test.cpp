// Nothing else happens that would wake the watch: each request has to do so by itself.

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "testing/fake_processes.hpp"
#include "watch/process_watch.hpp"

namespace knell {
namespace {

constexpr int requests = 5000;
constexpr std::chrono::seconds wait_max{60};

TEST(ProcessWatchRequests, NoneIsForgottenWhileAnotherIsTaken) {
    const testing::FakeProcesses nobody;
    std::mutex mutex;
    std::condition_variable told;
    int gone = 0;
    ProcessWatch watch(nobody, /*held_max=*/10,
                       {.gone =
                            [&](const ProcessIdentity&, const Departure&) {
                                const std::lock_guard lock(mutex);
                                ++gone;
                                told.notify_one();
                            },
                        .unknown = [](const ProcessIdentity&, const std::string&) {},
                        .alive = [](const ProcessIdentity&) {}});
    for (int i = 1; i <= requests; ++i) {
        // As when a session is taken over: two requests, one right after the other.
        watch.unwatch({100, 1, 1, "boot-1"});
        watch.watch({200, static_cast<std::uint64_t>(i), 1, "boot-1"});
        std::unique_lock lock(mutex);
        ASSERT_TRUE(told.wait_for(lock, wait_max, [&] { return gone == i; })) << "request " << i;
    }
}

}  // namespace
}  // namespace knell
