#include "client/spool.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell::client {
namespace {

class Spool : public testing::Test {
  protected:
    Spool() {
        std::string name = testing::TempDir() + "knell-spool-XXXXXX";
        root_ = ::mkdtemp(name.data());
        dir_ = root_ + "/state/spool";
    }
    ~Spool() override { std::filesystem::remove_all(root_); }

    std::string content() const {
        std::ifstream file(spool_file(dir_, id_));
        std::stringstream text;
        text << file.rdbuf();
        return text.str();
    }

    std::string root_;
    std::string dir_;
    const SessionId id_{"0190b2f0-6a1e-7abc-8def-0123456789ab"};
    const SpoolRecord create_{from_millis(1'000'000'000'001), "session.create", {{"id", "x"}}};
    const SpoolRecord close_{from_millis(1'000'000'005'000), "session.close", {{"detail", "é"}}};
};

TEST_F(Spool, ALineIsOneObjectWithVersionTimeMethodAndParams) {
    EXPECT_EQ(spool_line(create_),
              R"({"v":1,"at":"2001-09-09T01:46:40.001Z","method":"session.create",)"
              R"("params":{"id":"x"}})"
              "\n");
}

TEST_F(Spool, RecordsFollowEachOtherInOneFilePerSession) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    ASSERT_TRUE(append_to_spool(dir_, id_, close_));

    EXPECT_EQ(content(), spool_line(create_) + spool_line(close_));
}

TEST_F(Spool, OnlyTheOwnerMayReadIt) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));

    struct stat status{};
    ASSERT_EQ(::stat(spool_file(dir_, id_).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    ASSERT_EQ(::stat(dir_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(Spool, ALineCutShortByACrashWasNeverSaid) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    std::ofstream(spool_file(dir_, id_), std::ios::app) << R"({"v":1,"at":)";

    ASSERT_TRUE(append_to_spool(dir_, id_, close_));

    EXPECT_EQ(content(), spool_line(create_) + spool_line(close_));
}

TEST_F(Spool, ADirectoryThatCannotBeMadeIsAnErrorThatNamesIt) {
    std::ofstream(root_ + "/file") << "";

    const auto result = append_to_spool(root_ + "/file/spool", id_, create_);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::storage);
    EXPECT_NE(result.error().message.find(root_ + "/file/spool"), std::string::npos);
}

TEST(OwnerForSpool, IsAProcessThatCannotBeMistaken) {
    const auto owner = owner_for_spool(::getpid());

    EXPECT_EQ(wire::int_at(owner, "pid"), ::getpid());
    EXPECT_GT(wire::int_at(owner, "start_ticks"), 0);
}

}  // namespace
}  // namespace knell::client
