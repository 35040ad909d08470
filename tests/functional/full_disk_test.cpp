// A disk that takes no more: calls fail and say so, nothing acknowledged is lost, and service goes
// on when there is space again.

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

/// Appends to "s" until the disk takes no more; how many messages were acknowledged.
struct Filled {
    std::int64_t acknowledged = 0;
    Answer refusal;
};

Filled fill(Client& client, std::int64_t already = 0) {
    const auto params = fmt::format(
        R"({{"session_id":"s","generation":1,"messages":[{{"role":"user","content":"{}"}}]}})",
        std::string(20'000, 'x'));
    Filled filled{.acknowledged = already, .refusal = {}};
    for (int i = 0; i < 10'000; ++i) {
        auto answer = client.call("session.append", params);
        if (!answer.ok()) {
            filled.refusal = std::move(answer);
            return filled;
        }
        filled.acknowledged = number(answer.result(), "message_count");
    }
    ADD_FAILURE() << "the disk never became full";
    return filled;
}

void expect_intact(Client& client, std::int64_t acknowledged) {
    const auto session = client.must("session.show", R"({"session_id":"s","messages":1000})");
    EXPECT_EQ(number(session, "message_count"), acknowledged);
    EXPECT_EQ(static_cast<std::int64_t>(array(session, "messages").size()),
              std::min<std::int64_t>(acknowledged, 1000));
    std::int64_t seq = 0;
    for (const auto& event : all_events(client)) EXPECT_EQ(number(event, "seq"), ++seq);
}

TEST(FullDisk, AFileThatMayNotGrowFailsTheCallAndNothingElse) {
    const TempHome home;
    Daemon daemon(home);
    Client(home.socket()).must("session.create", R"({"id":"s","source":"cli"})");
    daemon.terminate();
    daemon.start({.descriptors_max = {}, .file_bytes_max = 600'000});
    Client client(home.socket());

    const auto filled = fill(client);

    EXPECT_GT(filled.acknowledged, 5);
    EXPECT_EQ(filled.refusal.code(), -32603);
    EXPECT_EQ(filled.refusal.kind(), "storage");
    EXPECT_THAT(filled.refusal.message(), HasSubstr("the disk and the limit of file sizes"));
    EXPECT_THAT(filled.refusal.message(), HasSubstr(home.file("knell.db")));
    expect_intact(client, filled.acknowledged);
    EXPECT_FALSE(client
                     .call("session.append", R"({"session_id":"s","generation":1,"messages":[
        {"role":"user","content":")" + std::string(100'000, 'y') +
                                                 R"("}]})")
                     .ok());
    EXPECT_TRUE(Client(home.socket()).call("node.status").ok());
    EXPECT_THAT(daemon.log(), HasSubstr("commit failed; callers got"));

    daemon.restart();
    Client again(home.socket());
    expect_intact(again, filled.acknowledged);
    EXPECT_TRUE(again.call("session.close", R"({"session_id":"s"})").ok());
}

/// A small file system of its own over a home, seen by this process and its children only.
class SmallDisk {
  public:
    explicit SmallDisk(const TempHome& home) : path_(home.path()) {
        ready_ = unshare(CLONE_NEWNS) == 0 &&
                 mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                 mount("knell", path_.c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (ready_) umount2(path_.c_str(), MNT_DETACH);
    }

    bool ready() const { return ready_; }
    bool make_read_only() const {
        return mount("knell", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    }
    /// Takes all the space that is left.
    void fill_up() const {
        const Fd file{open((path_ + "/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
        const std::string block(4096, 'b');
        while (write(file.get(), block.data(), block.size()) > 0) {
        }
    }
    void free_up() const { unlink((path_ + "/ballast").c_str()); }

  private:
    std::string path_;
    bool ready_ = false;
};

constexpr auto needs_mount = "needs the right to mount a file system: run as root";

TEST(FullDisk, ServiceResumesWithSpaceWithoutARestart) {
    const TempHome home;
    const SmallDisk disk(home);
    if (!disk.ready()) GTEST_SKIP() << needs_mount;
    Daemon daemon(home);
    Client client(home.socket());
    client.must("session.create", R"({"id":"s","source":"cli"})");
    auto acknowledged = std::int64_t{0};

    for (int round = 0; round < 3; ++round) {
        disk.fill_up();
        const auto filled = fill(client, acknowledged);
        acknowledged = filled.acknowledged;
        EXPECT_EQ(filled.refusal.kind(), "storage");
        EXPECT_THAT(filled.refusal.message(), HasSubstr("disk is full"));
        EXPECT_THAT(filled.refusal.message(), HasSubstr("free some space"));
        expect_intact(client, acknowledged);

        disk.free_up();
        const auto appended = client.must("session.append", R"({"session_id":"s","generation":1,
            "messages":[{"role":"user","content":"again"}]})");
        EXPECT_EQ(number(appended, "message_count"), ++acknowledged);
        expect_intact(client, acknowledged);
    }

    daemon.restart();
    Client again(home.socket());
    expect_intact(again, acknowledged);
}

TEST(FullDisk, ADaemonThatStartsOnAFullDiskSaysSoOrServes) {
    const TempHome home;
    const SmallDisk disk(home);
    if (!disk.ready()) GTEST_SKIP() << needs_mount;
    disk.fill_up();

    const auto refused = refused_start(home);

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("disk is full"));
    disk.free_up();
    Daemon daemon(home);
    EXPECT_TRUE(Client(home.socket()).call("session.create", R"({"source":"cli"})").ok());
}

TEST(FullDisk, AStartThatCannotRecordADeathSaysThatTheDiskIsFull) {
    const TempHome home;
    const SmallDisk disk(home);
    if (!disk.ready()) GTEST_SKIP() << needs_mount;
    {
        Daemon daemon(home);
        auto owner = idle_process();
        Client(home.socket())
            .must("session.create",
                  fmt::format(R"({{"id":"s","source":"cli","owner":{{"pid":{}}}}})", owner.pid()));
        daemon.kill9();
    }
    disk.fill_up();

    const auto refused = refused_start(home);

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("disk is full"));
    EXPECT_THAT(refused.err, HasSubstr("free some space"));
}

TEST(FullDisk, AStartInTheBackgroundThatCannotEvenLogSaysWhy) {
    const TempHome home;
    const SmallDisk disk(home);
    if (!disk.ready()) GTEST_SKIP() << needs_mount;
    disk.fill_up();

    const auto up = home.knell({"up", "--detach"});

    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("no space left on device for " + home.path()));
    const auto run = home.knell({"run", "--", "sh", "-c", "exit 4"});
    EXPECT_EQ(run.status, 4);
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("no space left on device for " + home.path()));
}

TEST(FullDisk, AReadOnlyDiskIsNamedAtTheStart) {
    const TempHome home;
    const SmallDisk disk(home);
    if (!disk.ready()) GTEST_SKIP() << needs_mount;
    {
        Daemon daemon(home);
        Client(home.socket()).must("session.create", R"({"id":"s","source":"cli"})");
        daemon.terminate();
    }
    ASSERT_TRUE(disk.make_read_only());

    const auto refused = refused_start(home);

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("Read-only"));
    const auto run = home.knell({"run", "--", "sh", "-c", "echo done; exit 3"});
    EXPECT_EQ(run.status, 3);
    EXPECT_EQ(run.out, "done\n");
}

}  // namespace
}  // namespace knell::functional
