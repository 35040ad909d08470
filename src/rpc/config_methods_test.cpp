// config.check and node.reload: what may be asked, and by whom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/process_calls.hpp"

namespace knell::rpc {
namespace {

using ConfigMethods = testing::ProcessCalls;

TEST_F(ConfigMethods, OneOfFileAndTextIsChecked) {
    EXPECT_TRUE(call("config.check", R"({"file":"/etc/knell.yaml"})").contains("problems"));
    EXPECT_TRUE(call("config.check", R"({"text":"","hermes":true})").contains("problems"));
    for (const auto* wrong :
         {R"({"file":"/a","text":"b"})", R"({"file":"knell.yaml"})", R"({"hermes":true})",
          R"({"file":""})", R"({"text":5})", R"({"hermes":"yes"})"}) {
        EXPECT_EQ(kind_of_error(call("config.check", wrong)), "invalid_params") << wrong;
    }
}

TEST_F(ConfigMethods, FilesAreReadForThisMachineAlone) {
    for (const auto access : {Access::read_only, Access::full, Access::processes}) {
        const Caller http{.who = HttpClient{"127.0.0.1:1", access}};
        const auto error = call("config.check", R"({"file":"/etc/passwd"})", http);
        EXPECT_EQ(kind_of_error(error), "unauthorized");
        EXPECT_TRUE(call("config.check", R"({"text":"a: 1\n"})", http).contains("problems"));
    }
}

TEST_F(ConfigMethods, WhoMayOnlyReadReloadsNothing) {
    EXPECT_EQ(call("node.reload", "{}").at("reloaded").as_bool(), true);
    const Caller reader{.who = HttpClient{"127.0.0.1:1", Access::read_only}};
    EXPECT_EQ(kind_of_error(call("node.reload", "{}", reader)), "unauthorized");
}

}  // namespace
}  // namespace knell::rpc
