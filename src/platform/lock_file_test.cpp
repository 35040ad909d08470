#include "platform/lock_file.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

class LockFileTest : public ::testing::Test {
  protected:
    std::optional<LockFile> acquire() const {
        auto lock = LockFile::acquire(path, {.home = "/a home", .socket = "/s"}, 0ms);
        EXPECT_TRUE(lock.has_value());
        return std::move(*lock);
    }

    const testing::TempFolder folder;
    const std::string path = folder.path() + "/lock";
};

TEST_F(LockFileTest, NamesItsHolder) {
    const auto lock = acquire();

    const auto holder = lock_holder(path);

    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->pid, getpid());
    EXPECT_EQ(holder->home, "/a home");
    EXPECT_EQ(holder->socket, "/s");
    EXPECT_TRUE(open_lock_holder(path, *holder)) << open_lock_holder(path, *holder).error().message;
}

TEST_F(LockFileTest, IsTakenOnAFileOnly) {
    const auto refusal = [&] {
        const auto lock = LockFile::acquire(path, {}, 0ms);
        return lock ? "" : lock.error().message;
    };
    std::filesystem::create_directory(path);
    EXPECT_EQ(refusal(), "cannot lock " + path + ": it is a directory; move it away");
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(refusal(), "cannot lock " + path + ": it is a named pipe; move it away");
}

TEST_F(LockFileTest, IsHadByOneAtATime) {
    auto first = acquire();
    ASSERT_TRUE(first);

    EXPECT_FALSE(acquire());

    first.reset();
    EXPECT_FALSE(lock_holder(path));
    EXPECT_TRUE(acquire());
}

TEST_F(LockFileTest, AnotherProcessUnderThePidOfTheHolderIsNotTaken) {
    const auto lock = acquire();
    const auto holder = lock_holder(path).value();

    auto reused = holder;
    reused.start_ticks += 1;
    auto elsewhere = holder;
    elsewhere.pid_namespace = "pid:[1]";
    auto before_boot = holder;
    before_boot.boot_id = "another";
    auto untold = holder;
    untold.start_ticks = 0;

    for (const auto& stranger : {reused, elsewhere, before_boot, untold}) {
        EXPECT_FALSE(open_lock_holder(path, stranger));
    }
}

TEST_F(LockFileTest, AProcessThatTheFileNamesButThatDoesNotHoldTheLockIsNotTaken) {
    const auto lock = acquire();
    auto holder = lock_holder(path).value();
    holder.pid = getppid();
    holder.start_ticks = read_proc_stat(getppid())->start_ticks;

    const auto opened = open_lock_holder(path, holder);

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message, "is not proven to hold it");
}

TEST_F(LockFileTest, WhoeverWroteTheFileIsNotTakenOnceTheLockIsFree) {
    auto lock = acquire();
    const auto holder = lock_holder(path).value();

    lock.reset();

    EXPECT_FALSE(open_lock_holder(path, holder));
}

TEST_F(LockFileTest, KnowsThatItsFileWasDeletedOrReplaced) {
    const auto lock = acquire();
    EXPECT_TRUE(lock->is_in_place());

    std::filesystem::remove(path);
    EXPECT_FALSE(lock->is_in_place());

    std::ofstream(path) << "1\n";
    EXPECT_FALSE(lock->is_in_place());
}

TEST_F(LockFileTest, OneThatKeepsBeingReplacedIsNotTaken) {
    // A file that never has the name it was opened by looks the same.
    testing::with_refused_calls({SYS_lstat, SYS_newfstatat, SYS_statx}, EACCES, [&] {
        const auto lock = LockFile::acquire(path, {.home = "", .socket = ""}, 0ms);
        ASSERT_FALSE(lock);
        EXPECT_EQ(lock.error().code, ErrorCode::storage);
    });
    EXPECT_FALSE(lock_holder(path)) << "it was released";
}

}  // namespace
}  // namespace knell
