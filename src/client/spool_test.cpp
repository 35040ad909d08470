#include "client/spool.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/faulty_files.hpp"

namespace knell::client {
namespace {

class Spool : public ::testing::Test {
  protected:
    Spool() {
        std::string name = ::testing::TempDir() + "knell-spool-XXXXXX";
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
    knell::testing::FaultyFiles files_;
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

// --- races with the daemon that takes the file in
// -------------------------------------------------

TEST_F(Spool, AFileThatIsDeletedWhileItsLockIsWaitedForIsNotWrittenTo) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    bool deleted = false;
    files_.before("flock", [&] {
        if (!std::exchange(deleted, true)) std::filesystem::remove(spool_file(dir_, id_));
    });

    ASSERT_TRUE(append_to_spool(dir_, id_, close_, files_.calls()));

    EXPECT_EQ(content(), spool_line(close_));
    EXPECT_EQ(files_.count("flock"), 2);
}

TEST_F(Spool, AFileThatIsSetAsideWhileItsLockIsWaitedForIsNotWrittenTo) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    bool renamed = false;
    files_.before("flock", [&] {
        if (std::exchange(renamed, true)) return;
        std::filesystem::rename(spool_file(dir_, id_), spool_file(dir_, id_) + ".bad");
    });

    ASSERT_TRUE(append_to_spool(dir_, id_, close_, files_.calls()));

    EXPECT_EQ(content(), spool_line(close_)) << "nobody reads what was set aside";
}

TEST_F(Spool, AFileThatIsReplacedByAnotherIsNotWrittenTo) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    bool replaced = false;
    files_.before("flock", [&] {
        if (std::exchange(replaced, true)) return;
        std::filesystem::remove(spool_file(dir_, id_));
        ASSERT_TRUE(append_to_spool(dir_, id_, create_));
    });

    ASSERT_TRUE(append_to_spool(dir_, id_, close_, files_.calls()));

    EXPECT_EQ(content(), spool_line(create_) + spool_line(close_));
}

TEST_F(Spool, AFileThatKeepsBeingDeletedIsGivenUpAfterEightAttempts) {
    files_.before("flock", [&] { std::filesystem::remove(spool_file(dir_, id_)); });

    const auto result = append_to_spool(dir_, id_, close_, files_.calls());

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::storage);
    EXPECT_EQ(files_.count("open"), 8);
}

TEST_F(Spool, TheEighthAttemptStillCounts) {
    files_.before("flock", [&] {
        if (files_.count("flock") < 8) std::filesystem::remove(spool_file(dir_, id_));
    });

    EXPECT_TRUE(append_to_spool(dir_, id_, close_, files_.calls()));
    EXPECT_EQ(content(), spool_line(close_));
}

// --- a disk that fails
// ----------------------------------------------------------------------------

TEST_F(Spool, IsLockedBeforeItIsReadAndDurableBeforeItReturns) {
    ASSERT_TRUE(append_to_spool(dir_, id_, create_, files_.calls()));

    EXPECT_EQ(files_.made(), (std::vector<std::string>{"open", "flock", "fstat", "read", "write",
                                                       "fdatasync", "open", "fsync"}));
}

TEST_F(Spool, EveryCallThatFailsIsAnErrorThatNamesTheFile) {
    struct Fault {
        std::string_view call;
        int nth;
        std::vector<int> errors;
    };
    const std::vector<Fault> faults{
        {"open", 1, {EMFILE, ENFILE, ENOSPC, EACCES, EROFS, EDQUOT, ENOMEM, EISDIR}},
        {"flock", 1, {ENOLCK, EBADF}},
        {"fstat", 1, {EIO, EOVERFLOW}},
        {"read", 1, {EIO, EISDIR}},
        {"ftruncate", 1, {EIO, EPERM}},
        {"write", 1, {ENOSPC, EDQUOT, EIO, EFBIG}},
        {"write", 2, {ENOSPC}},
        {"fdatasync", 1, {EIO, ENOSPC, EROFS}},
        {"open", 2, {EMFILE, EACCES}},
        {"fsync", 1, {EIO}},
    };
    for (const auto& [call, nth, errors] : faults) {
        for (const auto error : errors) {
            std::filesystem::remove_all(dir_);
            ASSERT_TRUE(append_to_spool(dir_, id_, create_));
            std::ofstream(spool_file(dir_, id_), std::ios::app) << "cut sho";
            knell::testing::FaultyFiles files;
            files.fail(call, error, nth);
            files.bytes_at_once(50);

            const auto result = append_to_spool(dir_, id_, close_, files.calls());

            const auto about = std::string(call) + ": " + std::generic_category().message(error);
            ASSERT_FALSE(result) << about;
            EXPECT_EQ(result.error().code, ErrorCode::storage) << about;
            EXPECT_NE(result.error().message.find(dir_), std::string::npos) << about;
            EXPECT_NE(result.error().message.find(std::generic_category().message(error)),
                      std::string::npos)
                << result.error().message;
            EXPECT_EQ(content().find(spool_line(create_)), 0U) << about << " costs what was there";
            // Said again on a disk that works, whatever is left of the first attempt.
            ASSERT_TRUE(append_to_spool(dir_, id_, close_)) << about;
            EXPECT_TRUE(content().ends_with("\n" + spool_line(close_))) << about;
        }
    }
}

TEST_F(Spool, AnInterruptedCallIsMadeAgain) {
    for (const auto* call : {"flock", "read", "write"}) {
        std::filesystem::remove_all(dir_);
        knell::testing::FaultyFiles files;
        files.fail(call, EINTR);
        ASSERT_TRUE(append_to_spool(dir_, id_, create_, files.calls())) << call;
        EXPECT_EQ(content(), spool_line(create_)) << call;
    }
}

TEST_F(Spool, WhatIsReadAndWrittenInPiecesIsWhole) {
    files_.bytes_at_once(3);
    ASSERT_TRUE(append_to_spool(dir_, id_, create_, files_.calls()));
    std::ofstream(spool_file(dir_, id_), std::ios::app) << "cut";
    ASSERT_TRUE(append_to_spool(dir_, id_, close_, files_.calls()));

    EXPECT_EQ(content(), spool_line(create_) + spool_line(close_));
}

TEST_F(Spool, ACutLineAloneIsDroppedWhole) {
    std::filesystem::create_directories(dir_);
    std::ofstream(spool_file(dir_, id_)) << "cut";
    ASSERT_TRUE(append_to_spool(dir_, id_, close_));
    EXPECT_EQ(content(), spool_line(close_));
}

TEST(OwnerForSpool, IsAProcessThatCannotBeMistaken) {
    const auto owner = owner_for_spool(::getpid());

    EXPECT_EQ(wire::int_at(owner, "pid"), ::getpid());
    EXPECT_GT(wire::int_at(owner, "start_ticks"), 0);
}

}  // namespace
}  // namespace knell::client
