// Who may be signalled: the very process that is meant, held by a descriptor, and nobody else.

#include "watch/pidfd_holder.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/fake_tree.hpp"

namespace knell {
namespace {

constexpr pid_t pid = 4711;

class Holding : public ::testing::Test {
  protected:
    Holding() { start(pid, 7); }

    void start(pid_t number, std::uint64_t ticks, pid_t parent = 1) {
        tree_.processes[number].stat.start_ticks = ticks;
        tree_.processes[number].stat.parent = parent;
    }
    static ProcessIdentity process(std::uint64_t ticks = 7) { return {pid, ticks, 1, "boot-1"}; }
    NotHeld why_not(const ProcessIdentity& wanted) const { return holder_.hold(wanted).error(); }

    testing::FakeTree tree_;
    LiveOwners owners_;
    int open_error_ = 0;
    int send_error_ = 0;
    int poll_ = 0;
    std::vector<int> signals_;
    int opened_ = 0;
    PidfdHolder holder_{tree_,
                        owners_,
                        {.pidfd_open =
                             [this](pid_t number) {
                                 EXPECT_EQ(number, pid);
                                 ++opened_;
                                 if (open_error_ == 0) return ::open("/dev/null", O_CLOEXEC);
                                 errno = open_error_;
                                 return -1;
                             },
                         .poll_pidfd = [this](int) { return poll_; },
                         .send_signal =
                             [this](int, int number) {
                                 signals_.push_back(number);
                                 errno = send_error_;
                                 return send_error_ == 0 ? 0 : -1;
                             }}};
};

TEST_F(Holding, TheVeryProcessIsHeldAndSignalled) {
    const auto held = holder_.hold(process());
    ASSERT_TRUE(held);
    EXPECT_FALSE((*held)->has_ended());
    poll_ = -1;
    EXPECT_FALSE((*held)->has_ended()) << "a poll that fails proves nothing";
    poll_ = 1;
    EXPECT_TRUE((*held)->has_ended());
    EXPECT_EQ((*held)->signal(SIGTERM), 0);
    EXPECT_EQ(signals_, std::vector{SIGTERM});
}

TEST_F(Holding, ASignalThatIsRefusedSaysWhy) {
    const auto held = holder_.hold(process());
    ASSERT_TRUE(held);
    send_error_ = EPERM;
    EXPECT_EQ((*held)->signal(SIGTERM), EPERM);
}

TEST_F(Holding, WhoseItIsIsToldWhileItRuns) {
    start(::getpid(), 7);
    auto own = process();
    own.pid = ::getpid();
    const PidfdHolder holder{tree_, owners_};
    const auto held = holder.hold(own);
    ASSERT_TRUE(held);
    EXPECT_EQ((*held)->uid(), ::getuid());
    poll_ = 1;
    const auto gone = holder_.hold(process());
    ASSERT_TRUE(gone);
    EXPECT_EQ((*gone)->uid(), std::nullopt);
}

TEST_F(Holding, AnotherStartIsAnotherProcess) {
    EXPECT_EQ(why_not(process(6)), NotHeld::gone);
    EXPECT_EQ(why_not(process(8)), NotHeld::gone);
    EXPECT_TRUE(signals_.empty());
}

TEST_F(Holding, AnotherBootIsOverAndOneThatIsNotKnownProvesNothing) {
    auto wanted = process();
    wanted.boot_id = "boot-0";
    EXPECT_EQ(why_not(wanted), NotHeld::gone);
    wanted.boot_id = "";
    EXPECT_EQ(why_not(wanted), NotHeld::unreachable);
    EXPECT_EQ(opened_, 0);
}

TEST_F(Holding, OfAnotherNamespaceThePidIsAnothers) {
    auto wanted = process();
    wanted.pid_namespace = 2;
    EXPECT_EQ(why_not(wanted), NotHeld::unreachable);
    EXPECT_EQ(opened_, 0);
}

TEST_F(Holding, EveryFailureToHoldIsNotAnEnd) {
    for (const auto error : {EMFILE, ENFILE, ENOMEM, EPERM, EINVAL, ENOSYS, EACCES}) {
        open_error_ = error;
        EXPECT_EQ(why_not(process()), NotHeld::unreachable) << error;
    }
    open_error_ = ESRCH;
    EXPECT_EQ(why_not(process()), NotHeld::gone);
}

TEST_F(Holding, WhoseStartCannotBeReadIsNotSignalled) {
    tree_.processes.clear();
    EXPECT_EQ(why_not(process()), NotHeld::unreachable) << "it runs, and may be anybody";
    poll_ = 1;
    EXPECT_EQ(why_not(process()), NotHeld::gone);
}

TEST_F(Holding, AnOwnerAndAllAboveItAreSpared) {
    start(5000, 8, pid);
    start(6000, 9, 5000);
    EXPECT_FALSE(holder_.is_spared(process()));
    const ProcessIdentity owner{6000, 9, 1, "boot-1"};
    owners_.add(owner);
    EXPECT_TRUE(holder_.is_spared(process()));
    EXPECT_TRUE(holder_.is_spared({5000, 8, 1, "boot-1"}));
    owners_.remove(owner);
    EXPECT_FALSE(holder_.is_spared(process()));
    owners_.add(process());
    EXPECT_TRUE(holder_.is_spared(process())) << "it owns one itself";
    owners_.remove(process());
    owners_.add({6000, 10, 1, "boot-1"});
    EXPECT_FALSE(holder_.is_spared(process())) << "another of the same pid did";
}

TEST_F(Holding, ProcessesThatAreEachOthersParentsAreLookedAtOnce) {
    start(5000, 8, pid);
    tree_.processes[pid].stat.parent = 5000;
    EXPECT_FALSE(holder_.is_spared(process()));
}

}  // namespace
}  // namespace knell
