// An owner that the kernel kills because memory ran out is told apart from one that somebody kills.

#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

bool put(const fs::path& file, std::string_view text) {
    const Fd fd{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A memory cgroup of 24 MB, of either version; gone when this goes.
class SmallMemory {
  public:
    SmallMemory() {
        const auto name = fmt::format("knell-test-{}", ::getpid());
        for (const fs::path root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
            std::error_code failed;
            const bool second = fs::exists(root / "cgroup.controllers", failed);
            if (second) put(root / "cgroup.subtree_control", "+memory");
            if (!second && !fs::exists(root / "memory.limit_in_bytes", failed)) continue;
            path_ = root / name;
            if (!fs::create_directory(path_, failed)) continue;
            const auto* limit = second ? "memory.max" : "memory.limit_in_bytes";
            usable_ = put(path_ / limit, "25165824");
            if (second) put(path_ / "memory.swap.max", "0");
            if (usable_) return;
            fs::remove(path_, failed);
        }
    }
    ~SmallMemory() {
        if (!usable_) return;
        for (int tries = 0; tries < 1000 && ::rmdir(path_.c_str()) != 0; ++tries) {
        }
    }

    bool is_usable() const { return usable_; }
    bool hold(pid_t pid) const { return put(path_ / "cgroup.procs", std::to_string(pid)); }

  private:
    fs::path path_;
    bool usable_ = false;
};

class OutOfMemory : public WithOwners {};

TEST_F(OutOfMemory, IsToldApartFromAnotherKill) {
    const SmallMemory memory;
    if (!memory.is_usable())
        GTEST_SKIP() << "needs root and a memory cgroup to run out of memory in";
    if (::access("/dev/kmsg", R_OK) != 0) GTEST_SKIP() << "needs the kernel's log to be readable";
    Puppet hungry;
    Puppet killed;
    if (!memory.hold(hungry.pid()))
        GTEST_SKIP() << "a process cannot be moved into a memory cgroup";
    own("hungry", hungry.pid());
    own("killed", killed.pid());

    hungry.tell("exec tail /dev/zero");  // keeps all of one endless line
    killed.signal(SIGKILL);

    expect_end("hungry", "oom_killed", "signal 9 (SIGKILL)");
    EXPECT_THAT(text(show("hungry"), "evidence"),
                HasSubstr("kernel log: Memory cgroup out of memory"));
    EXPECT_EQ(text(show("hungry"), "proof"), "observed");
    expect_end("killed", "signaled", "signal 9 (SIGKILL)");
    hungry.wait();
}

}  // namespace
}  // namespace knell::functional
