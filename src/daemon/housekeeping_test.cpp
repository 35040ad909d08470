// What a daemon does to stay reachable, at its start and at a SIGHUP; what it does once a second
// after that is the same.

#include "daemon/housekeeping.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "testing/fake_daemon.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

bool is_hangup_blocked() {
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, SIGHUP) == 1;
}

class HousekeepingTrial : public ::testing::Test {
  protected:
    HousekeepingTrial() {
        std::ofstream(paths_.store_file) << "a store";
        auto claims = Claims::take(paths_);
        if (!claims) throw std::runtime_error(claims.error().message);
        claims_.emplace(std::move(*claims));
        claims_->remember_store();
        house_.emplace(*claims_, loop_, server_, [this] {
            ++reloads_;
            loop_.stop();
        });
    }
    void listen() {
        const auto listening = house_->listen();
        ASSERT_TRUE(listening) << listening.error().message;
    }
    /// What it logs when it starts.
    std::string start() {
        ::testing::internal::CaptureStderr();
        house_->start();
        return ::testing::internal::GetCapturedStderr();
    }

    const testing::TempFolder folder_;
    const Paths paths_ = testing::paths_in(folder_.path());
    testing::InProcessBackend backend_;
    net::EventLoop loop_;
    net::ClientCount clients_{4};
    net::Server server_{loop_, backend_.dispatcher(), clients_};
    std::optional<Claims> claims_;
    std::optional<Housekeeping> house_;
    int reloads_ = 0;
};

TEST_F(HousekeepingTrial, WhereAllIsWellNothingIsSaid) {
    listen();
    EXPECT_EQ(start(), "");
    EXPECT_EQ(house_->why_stopped(), "on request");
    house_->remove_socket();
    EXPECT_FALSE(fs::exists(paths_.listen_socket));
}

TEST_F(HousekeepingTrial, ASocketThatIsGoneIsBoundAgain) {
    listen();
    fs::remove(paths_.listen_socket);
    EXPECT_THAT(start(), HasSubstr("the socket was gone: bound again at " + paths_.listen_socket));
    EXPECT_TRUE(fs::is_socket(paths_.listen_socket));
}

TEST_F(HousekeepingTrial, WhyItCannotBeReachedIsSaidOnce) {
    listen();
    fs::remove(paths_.listen_socket);
    fs::create_directory(paths_.listen_socket);
    EXPECT_THAT(start(), HasSubstr("unreachable, trying again every second"));
    EXPECT_THAT(start(), Not(HasSubstr("unreachable"))) << "it was said before";
    fs::remove(paths_.listen_socket);
    EXPECT_THAT(start(), HasSubstr("bound again"));
}

TEST_F(HousekeepingTrial, ADaemonWhoseStoreIsAnothersEndsAtOnce) {
    listen();
    fs::remove(paths_.lock_file);
    std::ofstream(paths_.store_file + ".new") << "of another daemon";
    fs::rename(paths_.store_file + ".new", paths_.store_file);
    EXPECT_EXIT(house_->start(), ::testing::ExitedWithCode(1),
                "is the store of another daemon now; this daemon ends at once");
}

TEST_F(HousekeepingTrial, AHangupIsKeptUntilTheStartAndReadsTheConfigAgain) {
    std::signal(SIGHUP, SIG_DFL);  // under nohup it is ignored, and an ignored one is not kept
    hold_hangup();
    ASSERT_TRUE(is_hangup_blocked());
    ::raise(SIGHUP);
    listen();

    house_->start();
    loop_.run();

    EXPECT_FALSE(is_hangup_blocked());
    EXPECT_EQ(reloads_, 1);
    EXPECT_EQ(house_->why_stopped(), "on request");
}

TEST_F(HousekeepingTrial, ItLooksAgainByItself) {
    listen();
    start();
    fs::remove(paths_.listen_socket);
    loop_.every(1ms, [this] {
        if (fs::exists(paths_.listen_socket)) loop_.stop();
    });
    loop_.run();
    EXPECT_TRUE(fs::is_socket(paths_.listen_socket));
}

}  // namespace
}  // namespace knell
