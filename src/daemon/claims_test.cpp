#include "daemon/claims.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ClaimsTrial : public ::testing::Test {
  protected:
    ClaimsTrial() {
        paths_.state_dir = temp_.path() + "/state";
        paths_.store_file = paths_.state_dir + "/knell.db";
        paths_.lock_file = paths_.state_dir + "/knell.lock";
        paths_.runtime_dir = temp_.path() + "/run";
        paths_.listen_socket = paths_.runtime_dir + "/knell.sock";
        fs::create_directories(paths_.state_dir);
        fs::permissions(paths_.state_dir, fs::perms::owner_all);
        write_store();
    }

    void write_store() { std::ofstream(paths_.store_file) << "a store"; }
    /// The same name, another file.
    void replace_store() {
        std::ofstream(paths_.store_file + ".new") << "another store";
        fs::rename(paths_.store_file + ".new", paths_.store_file);
    }
    Claims take() {
        auto claims = Claims::take(paths_, 0ms);
        EXPECT_TRUE(claims);
        return std::move(*claims);
    }
    Result<std::optional<LockFile>> lock_as_another() {
        return LockFile::acquire(paths_.lock_file, {.home = "other", .socket = "/elsewhere"}, 0ms);
    }

    const testing::TempFolder temp_;
    Paths paths_;
};

TEST_F(ClaimsTrial, ASecondDaemonIsToldWhoIsThere) {
    const auto held = lock_as_another();
    ASSERT_TRUE(held && *held);
    const auto claims = Claims::take(paths_, 0ms);
    ASSERT_FALSE(claims);
    EXPECT_EQ(claims.error().code, ErrorCode::owned);
    EXPECT_NE(claims.error().message.find(fmt::format("process {} already runs", ::getpid())),
              std::string::npos);
    EXPECT_NE(claims.error().message.find("and listens at /elsewhere"), std::string::npos);
}

TEST_F(ClaimsTrial, NobodyIsBlamedWhoIsNotProvenToHoldTheLock) {
    const auto held = lock_as_another();
    ASSERT_TRUE(held && *held);
    std::ofstream(paths_.lock_file) << "1\nstart_ticks 1\n";  // in place: the lock stays held
    const auto claims = Claims::take(paths_, 0ms);
    ASSERT_FALSE(claims);
    EXPECT_EQ(claims.error().code, ErrorCode::owned);
    EXPECT_NE(claims.error().message.find("something holds " + paths_.lock_file), std::string::npos)
        << claims.error().message;
    EXPECT_NE(claims.error().message.find("fuser"), std::string::npos);
}

TEST_F(ClaimsTrial, ADeletedLockLetsNobodyIn) {
    auto claims = take();
    fs::remove(paths_.lock_file);
    fs::remove_all(paths_.runtime_dir);

    const auto second = Claims::take(paths_, 0ms);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::owned);
    EXPECT_NE(second.error().message.find("is not there; it puts that back"), std::string::npos)
        << second.error().message;

    EXPECT_TRUE(claims.keep_store()) << "who tried in vain left nothing in the way";
    EXPECT_TRUE(fs::exists(paths_.lock_file));
}

TEST_F(ClaimsTrial, AFolderThatWasReplacedIsLockedAnew) {
    auto claims = take();
    fs::rename(paths_.state_dir, temp_.path() + "/moved");
    EXPECT_TRUE(claims.keep_store());
    fs::remove(paths_.lock_file);
    EXPECT_FALSE(Claims::take(paths_, 0ms)) << "the new one keeps others out, too";
}

TEST_F(ClaimsTrial, OneWhoseFolderAnotherLockedMeanwhileStepsDown) {
    auto claims = take();
    fs::rename(paths_.state_dir, temp_.path() + "/moved");
    fs::create_directories(paths_.state_dir);
    const auto other = FolderLock::acquire(paths_.state_dir, paths_.lock_file, 0ms);
    ASSERT_TRUE(other && other->is_in_place());
    const auto kept = claims.keep_store();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::owned);
}

TEST_F(ClaimsTrial, WhatIsHeldIsKeptWithoutATrace) {
    auto claims = take();
    claims.remember_store();
    const auto before = fs::last_write_time(paths_.lock_file);
    EXPECT_TRUE(claims.keep_store());
    EXPECT_EQ(fs::last_write_time(paths_.lock_file), before);
    replace_store();
    EXPECT_TRUE(claims.keep_store()) << "the lock is in its place: the store itself says no";
}

TEST_F(ClaimsTrial, ALockThatWasDeletedIsTakenAnew) {
    auto claims = take();
    claims.remember_store();
    fs::remove(paths_.lock_file);
    EXPECT_TRUE(claims.keep_store());
    EXPECT_TRUE(fs::exists(paths_.lock_file));
    const auto other = lock_as_another();
    ASSERT_TRUE(other);
    EXPECT_FALSE(*other) << "it keeps nobody out";
}

TEST_F(ClaimsTrial, AStateDirectoryThatWasDeletedIsMadeAgain) {
    auto claims = take();
    claims.remember_store();
    fs::remove_all(paths_.state_dir);
    EXPECT_TRUE(claims.keep_store());
    EXPECT_TRUE(fs::exists(paths_.lock_file));
}

TEST_F(ClaimsTrial, OneThatAnotherTookMeanwhileIsTheirs) {
    auto claims = take();
    claims.remember_store();
    fs::remove(paths_.lock_file);
    const auto other = lock_as_another();
    ASSERT_TRUE(other && *other);
    const auto kept = claims.keep_store();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::owned);
}

TEST_F(ClaimsTrial, AStoreThatAnotherLeftIsNotOurs) {
    auto claims = take();
    claims.remember_store();
    fs::remove(paths_.lock_file);
    replace_store();
    const auto kept = claims.keep_store();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::owned);
    EXPECT_NE(kept.error().message.find("is the store of another daemon now"), std::string::npos);
    EXPECT_FALSE(fs::exists(paths_.lock_file)) << "theirs to take";
}

TEST_F(ClaimsTrial, WithoutAStoreOnRecordNoneIsAnothers) {
    auto claims = take();  // it has not been opened yet
    fs::remove(paths_.lock_file);
    replace_store();
    EXPECT_TRUE(claims.keep_store());
    EXPECT_TRUE(fs::exists(paths_.lock_file));
}

TEST_F(ClaimsTrial, ADiskThatRefusesIsNoReasonToStop) {
    auto claims = take();
    claims.remember_store();
    fs::remove_all(paths_.state_dir);
    std::ofstream(paths_.state_dir) << "in the way";
    EXPECT_TRUE(claims.keep_store());
    fs::remove(paths_.state_dir);
    EXPECT_TRUE(claims.keep_store());
    EXPECT_TRUE(fs::exists(paths_.lock_file)) << "it is tried again";
}

}  // namespace
}  // namespace knell
