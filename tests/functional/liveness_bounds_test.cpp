// The bounds of an end hold the true time of death, whatever held up the daemon or its store.

#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"
#include "platform/clock.hpp"

namespace knell::functional {
namespace {

class Bounds : public WithOwners {
  protected:
    struct Death {
        WallTime before;
        WallTime after;
    };
    static Death kill(Process& owner) {
        const auto before = read_clocks().wall;
        owner.signal(SIGKILL);
        owner.become_zombie();
        return {before, read_clocks().wall};
    }
    void expect_within_bounds(const std::string& id, const Death& death) {
        const auto session = ended(id);
        EXPECT_LE(*parse_rfc3339(text(session, "ended_after")), death.after);
        EXPECT_GE(*parse_rfc3339(text(session, "ended_before")), death.before);
        expect_ordered_bounds(session);
    }
};

TEST_F(Bounds, HoldADeathWhileTheDaemonWasStopped) {
    for (int i = 0; i < 10; ++i) {
        auto owner = idle_process();
        const auto id = "s" + std::to_string(i);
        own(id, owner.pid());
        let_observers_speak();
        daemon.freeze();

        const auto death = kill(owner);
        daemon.signal(SIGCONT);

        expect_within_bounds(id, death);
    }
}

TEST_F(Bounds, HoldADeathWhileAnotherProgramHeldTheStore) {
    auto owner = idle_process();
    own("a", owner.pid());
    let_observers_speak();
    // As SQLite locks it: the byte of the WAL index that stands for writing.
    const Fd index{::open((home.path() + "/knell.db-shm").c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_TRUE(index);
    struct flock lock{
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1, .l_pid = 0};
    ASSERT_EQ(::fcntl(index.get(), F_OFD_SETLKW, &lock), 0);

    const auto death = kill(owner);
    until([&] { return number(client.must("node.status"), "journal.failures") > 0; },
          "the store to refuse");
    lock.l_type = F_UNLCK;
    ASSERT_EQ(::fcntl(index.get(), F_OFD_SETLK, &lock), 0);

    expect_within_bounds("a", death);
    const auto session = show("a");
    EXPECT_LE(*parse_rfc3339(text(session, "ended_before")) - death.after, std::chrono::seconds{5})
        << "seen at once, and written later";
}

TEST_F(Bounds, HoldADeathBetweenTwoDaemons) {
    auto owner = idle_process();
    own("a", owner.pid());
    daemon.kill9();
    const auto death = kill(owner);
    daemon.start();
    reconnect();

    expect_within_bounds("a", death);
}

}  // namespace
}  // namespace knell::functional
