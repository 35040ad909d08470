#include "daemon/http_service.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "platform/small_file.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServiceTrial : public ::testing::Test {
  protected:
    HttpServiceTrial() {
        paths_.state_dir = temp_.path();
        paths_.config_file = temp_.path() + "/config.yaml";
        configure("http: {listen: '127.0.0.1:0'}\n");
    }
    void configure(const std::string& text) {
        fs::remove(paths_.config_file);
        std::ofstream(paths_.config_file) << text;
        ::chmod(paths_.config_file.c_str(), 0600);
        if (config_) config_->reload();
    }
    HttpService& service(const std::string& listen = {}) {
        if (!config_) config_.emplace(paths_.config_file);
        service_.emplace(paths_, listen, *config_, loop_, backend_.dispatcher(), clients_,
                         [] { return true; });
        return *service_;
    }
    std::string address_file() const {
        return read_small_file(http_address_path(paths_)).value_or("");
    }

    const knell::testing::TempFolder temp_;
    Paths paths_;
    knell::testing::InProcessBackend backend_;
    net::EventLoop loop_;
    net::ClientCount clients_{8};
    std::optional<ConfigHolder> config_;
    std::optional<HttpService> service_;
};

TEST_F(HttpServiceTrial, ListensAndTellsWhere) {
    auto& http = service();
    ASSERT_TRUE(http.start());

    EXPECT_THAT(http.address(), StartsWith("127.0.0.1:"));
    EXPECT_EQ(address_file(), http.address() + "\n");
    EXPECT_TRUE(read_token(token_path(paths_, TokenKind::full)));
    EXPECT_TRUE(read_token(token_path(paths_, TokenKind::read_only)));

    http.stop();
    EXPECT_EQ(http.address(), "");
    EXPECT_FALSE(fs::exists(http_address_path(paths_)));
}

TEST_F(HttpServiceTrial, StaysWhereItIsUntilTheConfigSaysOtherwise) {
    auto& http = service();
    ASSERT_TRUE(http.start());
    const auto before = http.address();
    http.look();
    EXPECT_EQ(http.address(), before);

    configure("http: {listen: off}\n");
    http.look();
    EXPECT_EQ(http.address(), "");
    EXPECT_EQ(address_file(), "");

    configure("http: {listen: '[::1]:0'}\n");
    http.look();
    EXPECT_THAT(http.address(), StartsWith("[::1]:"));
}

TEST_F(HttpServiceTrial, ServesNothingAndMakesNoTokenWhenOff) {
    configure("http: {listen: off}\n");
    auto& http = service();
    ASSERT_TRUE(http.start());

    EXPECT_EQ(http.address(), "");
    EXPECT_FALSE(fs::exists(token_path(paths_, TokenKind::full)));
}

TEST_F(HttpServiceTrial, ATakenPortIsTriedAgainUntilItIsFree) {
    auto holder = std::make_unique<net::http::Server>(loop_, backend_.dispatcher(), clients_,
                                                      [] { return true; });
    const auto taken = holder->listen("127.0.0.1", 0);
    ASSERT_TRUE(taken);
    configure("http: {listen: '" + *taken + "'}\n");
    auto& http = service();

    ::testing::internal::CaptureStderr();
    ASSERT_TRUE(http.start()) << "that is no reason not to start";
    http.look();
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("cannot listen at " + *taken));
    EXPECT_EQ(http.address(), "");

    holder->stop_listening();
    http.look();
    EXPECT_EQ(http.address(), *taken);
}

TEST_F(HttpServiceTrial, WhatWasAskedForByHandStandsForTheConfig) {
    configure("http: {listen: off}\n");
    auto& http = service("127.0.0.1:0");
    ASSERT_TRUE(http.start());
    EXPECT_THAT(http.address(), StartsWith("127.0.0.1:"));
}

TEST_F(HttpServiceTrial, AnAddressThatOthersReachIsRefusedUnlessTheConfigAllowsIt) {
    const auto refused = service("0.0.0.0:0").start();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("behind_proxy"));

    configure("http: {trusted_network: true}\n");
    auto& http = service("0.0.0.0:0");
    ASSERT_TRUE(http.start());
    EXPECT_THAT(http.address(), StartsWith("0.0.0.0:"));

    configure("http: {}\n");
    http.look();
    EXPECT_EQ(http.address(), "") << "the word was taken back";
}

TEST_F(HttpServiceTrial, ATokenThatOthersCanReadLetsNobodyIn) {
    const auto path = token_path(paths_, TokenKind::full);
    std::ofstream(path) << std::string(64, 'a');
    ::chmod(path.c_str(), 0644);
    auto& http = service();
    ASSERT_TRUE(http.start());
    http.look();
    EXPECT_THAT(http.address(), StartsWith("127.0.0.1:"));

    ASSERT_TRUE(rotate_token(path));
    http.look();
    EXPECT_TRUE(read_token(path));
}

TEST_F(HttpServiceTrial, WhatCannotBeWrittenIsNoReasonToStop) {
    fs::create_directories(http_address_path(paths_) + "/in the way");
    auto& http = service();
    ASSERT_TRUE(http.start());
    EXPECT_THAT(http.address(), StartsWith("127.0.0.1:"));
}

}  // namespace
}  // namespace knell
