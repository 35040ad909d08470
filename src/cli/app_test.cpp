#include "cli/app.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "cli/exit_status.hpp"

namespace knell::cli {
namespace {

int run_with(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "knell");
    return run_app(static_cast<int>(arguments.size()), arguments.data());
}

class AppTest : public testing::Test {
  protected:
    void SetUp() override {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
    }
    void TearDown() override {
        if (captured_) return;
        finish();
    }
    void finish() {
        out_ = testing::internal::GetCapturedStdout();
        err_ = testing::internal::GetCapturedStderr();
        captured_ = true;
    }

    std::string out_;
    std::string err_;
    bool captured_ = false;
};

TEST_F(AppTest, HelpIsAnAnswer) {
    EXPECT_EQ(run_with({"--help"}), exit_done);

    finish();
    EXPECT_TRUE(out_.find("Usage: knell VERB") != std::string::npos) << out_;
    EXPECT_EQ(err_, "");
}

TEST_F(AppTest, EveryVerbHasHelpWithAnExampleAndExitStatus) {
    for (const char* verb : {"up", "down", "status", "reap", "run", "ls", "show", "why", "end",
                             "reset", "suspend", "branch", "compress", "events", "rpc"}) {
        EXPECT_EQ(run_with({verb, "--help"}), exit_done);
        const auto text = testing::internal::GetCapturedStdout();
        testing::internal::CaptureStdout();
        EXPECT_TRUE(text.find(std::string("Usage: knell ") + verb) != std::string::npos) << text;
        EXPECT_TRUE(text.find("\nExample") != std::string::npos) << text;
        EXPECT_TRUE(text.find("\nExit status: ") != std::string::npos) << text;
    }
}

TEST_F(AppTest, WrongUsageSaysWhereToLook) {
    EXPECT_EQ(run_with({"ls", "--nonsense"}), exit_usage);
    EXPECT_EQ(run_with({"show"}), exit_usage);
    EXPECT_EQ(run_with({"why"}), exit_usage);
    EXPECT_EQ(run_with({"reap", "s"}), exit_usage);
    EXPECT_EQ(run_with({"reset"}), exit_usage);
    EXPECT_EQ(run_with({"suspend"}), exit_usage);
    EXPECT_EQ(run_with({"branch"}), exit_usage);
    EXPECT_EQ(run_with({"compress"}), exit_usage);
    EXPECT_EQ(run_with({"run", "--leftovers", "keep", "--", "true"}), exit_usage);
    EXPECT_EQ(run_with({"toll"}), exit_usage);
    EXPECT_EQ(run_with({}), exit_usage);
    EXPECT_EQ(run_with({"run"}), exit_usage);
    EXPECT_EQ(run_with({"run", "--"}), exit_usage);
    EXPECT_EQ(run_with({"run", "--id", "a/b", "--", "true"}), exit_usage);
    EXPECT_EQ(run_with({"end", "x", "--reason", "reaped"}), exit_usage);
    EXPECT_EQ(run_with({"ls", "--ended", "--open"}), exit_usage);
    EXPECT_EQ(run_with({"rpc"}), exit_usage);
    EXPECT_EQ(run_with({"rpc", "node.status", "{"}), exit_usage);
    EXPECT_EQ(run_with({"rpc", "node.status", "[]"}), exit_usage);

    finish();
    EXPECT_EQ(out_, "");
    EXPECT_TRUE(err_.find("knell ls: ") != std::string::npos) << err_;
    EXPECT_TRUE(err_.find("Try: knell ls --help") != std::string::npos) << err_;
    EXPECT_TRUE(err_.find("knell: there is no verb \"toll\"") != std::string::npos) << err_;
}

TEST_F(AppTest, VersionNamesTheProgram) {
    EXPECT_EQ(run_with({"--version"}), exit_done);

    finish();
    EXPECT_TRUE(out_.starts_with("knell ")) << out_;
}

}  // namespace
}  // namespace knell::cli
