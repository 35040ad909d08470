// A store that cannot be used: the daemon refuses to start, says what to do, and touches nothing.

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Where SQLite keeps these in the file's header, as four bytes, the highest first.
constexpr std::size_t user_version_at = 60;
constexpr std::size_t application_id_at = 68;

class BadStore : public testing::Test {
  protected:
    /// Leaves a store with something in it, and no daemon.
    void make_store() {
        Daemon daemon(home);
        Client client(home.socket());
        client.must("session.create", R"({"id":"s","source":"cli"})");
        const auto line = std::string(10'000, 'x');
        for (int i = 0; i < 20; ++i) {
            client.must("session.append",
                        fmt::format(R"({{"session_id":"s","generation":1,"messages":[
                            {{"role":"user","content":"{}"}}]}})",
                                    line));
        }
        daemon.terminate();
    }
    std::string store() const { return read_file(home.file("knell.db")); }
    void set_store(std::string_view bytes) const { write_file(home.file("knell.db"), bytes); }

    void expect_refused(std::string_view why, std::string_view advice) {
        const auto before = store();
        const auto log_before = read_file(home.file("knell.db-wal"));
        const auto refused = refused_start(home);
        EXPECT_EQ(refused.status, 1);
        EXPECT_THAT(refused.err,
                    AllOf(HasSubstr("knell does not start"), HasSubstr(home.file("knell.db")),
                          HasSubstr(std::string(why)), HasSubstr(std::string(advice))));
        EXPECT_TRUE(store() == before) << "the store was changed";
        EXPECT_TRUE(read_file(home.file("knell.db-wal")) == log_before) << "its log was changed";
    }

    TempHome home;
};

TEST_F(BadStore, Garbage) {
    std::string garbage(100'000, '\0');
    std::ranges::generate(garbage,
                          [i = 0U]() mutable { return static_cast<char>(++i * 7919U >> 3U); });
    set_store(garbage);

    expect_refused("is damaged", "restore a backup");
}

TEST_F(BadStore, AText) {
    set_store("this is not a database\n");

    expect_refused("is damaged", "restore a backup");
}

TEST_F(BadStore, CutShort) {
    make_store();
    const auto whole = store();
    ASSERT_GT(whole.size(), 200'000U);
    for (const auto size : {whole.size() / 2, whole.size() - 4096, std::size_t{5000},
                            std::size_t{1000}, std::size_t{50}}) {
        set_store(std::string_view(whole).substr(0, size));
        expect_refused("is damaged", "restore a backup");
    }
}

TEST_F(BadStore, APageOverwritten) {
    make_store();
    auto bytes = store();
    std::fill_n(bytes.begin() + 3 * 4096, 4096, '\xaa');
    set_store(bytes);

    expect_refused("is damaged", ".recover");
}

TEST_F(BadStore, APageOverwrittenWhileTheLogIsStillThere) {
    make_store();
    {
        Daemon daemon(home);
        Client(home.socket()).must("session.create", R"({"id":"late","source":"cli"})");
        daemon.kill9();
    }
    ASSERT_FALSE(read_file(home.file("knell.db-wal")).empty());
    auto bytes = store();
    std::fill_n(bytes.begin() + 20 * 4096, 4096, '\xaa');
    set_store(bytes);

    expect_refused("is damaged", ".recover");
}

TEST_F(BadStore, OfANewerKnell) {
    make_store();
    auto bytes = store();
    bytes[user_version_at + 2] = 1;  // 256 more
    set_store(bytes);

    expect_refused("newer than", "Install the newer knell");
}

TEST_F(BadStore, OfAnotherProgram) {
    make_store();
    auto bytes = store();
    bytes[application_id_at] = 'X';
    set_store(bytes);

    expect_refused("another program", "Point KNELL_HOME elsewhere");
}

TEST_F(BadStore, AFolderInItsPlace) {
    ASSERT_EQ(mkdir(home.file("knell.db").c_str(), 0700), 0);

    const auto refused = refused_start(home);

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("cannot open"));
}

TEST_F(BadStore, OnceItIsRepairedTheDaemonStarts) {
    make_store();
    const auto good = store();
    set_store(std::string_view(good).substr(0, good.size() / 2));
    ASSERT_EQ(refused_start(home).status, 1);
    set_store(good);

    Daemon daemon(home);

    const auto session = Client(home.socket()).must("session.show", R"({"session_id":"s"})");
    EXPECT_EQ(number(session, "message_count"), 20);
}

TEST_F(BadStore, AnEmptyFileIsANewStore) {
    set_store("");

    Daemon daemon(home);

    EXPECT_TRUE(Client(home.socket()).call("session.create", R"({"source":"cli"})").ok());
}

TEST_F(BadStore, DetachedStartSaysWhyTooAndFails) {
    set_store("this is not a database\n");

    const auto up = home.knell({"up", "--detach"});

    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("is damaged"));
}

}  // namespace
}  // namespace knell::functional
