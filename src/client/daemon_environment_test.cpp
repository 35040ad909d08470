#include "client/daemon_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::client {
namespace {

using testing::ElementsAre;

TEST(DaemonEnvironment, KeepsWhatProgramsNeedAndNoSecret) {
    const char* const ours[] = {"PATH=/bin",        "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C",
                                "KNELL_HOME=/k",    "KNELL_SOCKET=/other",     "KNELL_SESSION_ID=s",
                                "OPENAI_API_KEY=x", "https_proxy=http://p/",   nullptr};

    EXPECT_THAT(daemon_environment(ours, {}),
                ElementsAre("PATH=/bin", "LC_ALL=C", "KNELL_HOME=/k", "https_proxy=http://p/"));
}

TEST(DaemonEnvironment, KeepsWhatTheConfigNames) {
    const char* const ours[] = {"OPS_SECRET=x", "OPS_SECRET_OLD=y", nullptr};
    const std::vector<std::string> named{"OPS_SECRET"};

    EXPECT_THAT(daemon_environment(ours, named), ElementsAre("OPS_SECRET=x"));
}

}  // namespace
}  // namespace knell::client
