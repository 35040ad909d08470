// Taking in what was spooled: real files, a journal in memory that refuses when it is told to.

#include "daemon/spool.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/spool.hpp"
#include "daemon/spool_file.hpp"
#include "testing/commands.hpp"
#include "testing/faulty_files.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;
using client::spool_line;
using client::SpoolRecord;

const auto started = from_millis(1'799'999'000'000);
const auto ended = from_millis(1'799'999'060'000);

std::string create_line(int pid = 4711, int ticks = 7) {
    return spool_line({started,
                       "session.create",
                       {{"id", "s"},
                        {"source", "cli"},
                        {"title", "spooled"},
                        {"cwd", "/srv"},
                        {"owner", JsonObject{{"pid", pid},
                                             {"start_ticks", ticks},
                                             {"boot_id", "boot-1"},
                                             {"pid_namespace", 1}}}}});
}
std::string close_line(JsonObject more = {}) {
    JsonObject params{{"session_id", "s"}, {"reason", "exited"}, {"detail", "exit 5"}};
    for (const auto& [key, value] : more) params[key] = value;
    return spool_line({ended, "session.close", std::move(params)});
}

class SpoolTaking : public ::testing::Test {
  protected:
    SpoolTaking() { fs::create_directories(dir_); }

    void write(const std::string& text, const std::string& name = "s.jsonl") {
        std::ofstream(dir_ + "/" + name) << text;
    }
    void take_in() { intake_.look(); }
    std::string files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(dir_)) {
            names.push_back(entry.path().filename());
        }
        std::ranges::sort(names);
        return fmt::format("{}", fmt::join(names, " "));
    }
    std::optional<Session> session() { return *backend_.reader().find(SessionId("s")); }
    void refuse(ErrorCode code, ErrorFacts facts = {}) {
        backend_.refusals.push_back({code, "no", {}, std::move(facts)});
    }
    template <typename Kind>
    const Kind& submitted(std::size_t place) const {
        return *as<Kind>(backend_.submitted.at(place));
    }

    const testing::TempFolder temp_;
    const std::string dir_ = temp_.path() + "/spool";
    testing::InProcessBackend backend_;
    SpoolIntake intake_{dir_, backend_};
};

TEST_F(SpoolTaking, ALifeThatWasSpooledWholeIsOneCall) {
    write(create_line() + close_line());
    take_in();

    ASSERT_EQ(backend_.submitted.size(), 1U);
    EXPECT_EQ(submitted<Create>(0).at, started);
    ASSERT_TRUE(submitted<Create>(0).and_close);
    EXPECT_EQ(submitted<Create>(0).and_close->at, ended);
    ASSERT_TRUE(session());
    EXPECT_EQ(session()->end->reason, Reason::exited);
    EXPECT_EQ(session()->end->ended_at, ended);
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, AnErrorThatMayPassKeepsTheFile) {
    for (const auto code : {ErrorCode::storage, ErrorCode::limit, ErrorCode::internal}) {
        write(create_line() + close_line());
        refuse(code);
        take_in();
        EXPECT_EQ(files(), "s.jsonl");
        EXPECT_FALSE(session());
    }
    take_in();
    EXPECT_EQ(files(), "");
    ASSERT_TRUE(session());
    EXPECT_EQ(session()->end->reason, Reason::exited);
}

TEST_F(SpoolTaking, WhatIsKeptIsNotLockedAnyMore) {
    write(create_line());
    refuse(ErrorCode::storage);
    take_in();
    ASSERT_TRUE(client::append_to_spool(
        dir_, SessionId("s"),
        SpoolRecord{ended, "session.close", {{"session_id", "s"}, {"reason", "exited"}}}));
    take_in();
    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->end->reason, Reason::exited);
}

TEST_F(SpoolTaking, AnErrorThatStaysSetsTheFileAside) {
    for (const auto code : {ErrorCode::invalid_params, ErrorCode::not_found, ErrorCode::blocked,
                            ErrorCode::unauthorized}) {
        fs::remove_all(dir_);
        fs::create_directories(dir_);
        write(create_line() + close_line());
        refuse(code);
        take_in();
        EXPECT_EQ(files(), "s.jsonl.bad") << static_cast<int>(code);
    }
}

TEST_F(SpoolTaking, ACloseOfWhatIsOnRecordIsMeantForTheFirstGeneration) {
    // The create was delivered before the daemon was killed.
    const auto record = create_line();
    write(record);
    take_in();
    ASSERT_TRUE(session());
    write(record + close_line());
    take_in();

    EXPECT_EQ(files(), "");
    ASSERT_EQ(backend_.submitted.size(), 3U);
    EXPECT_EQ(submitted<Close>(2).generation, 1U);
    EXPECT_EQ(session()->end->reason, Reason::exited);
}

TEST_F(SpoolTaking, ASessionThatWasHandedOverInBetweenIsNotClosed) {
    write(create_line());
    take_in();
    refuse(ErrorCode::owned,
           OwnedBy{.owner = session()->owner, .generation = 1, .status = {}, .how_known = {}});
    auto taken = testing::resume("s", /*takeover=*/true);
    ASSERT_TRUE(backend_.commit(Command{taken}));
    write(create_line() + close_line());
    take_in();

    EXPECT_EQ(files(), "") << "its end is the next owner's to tell";
    EXPECT_EQ(session()->generation, 2U);
    EXPECT_FALSE(session()->end);
}

TEST_F(SpoolTaking, ACloseThatNamesItsGenerationKeepsIt) {
    write(close_line({{"generation", 3}}));
    refuse(ErrorCode::fenced, FencedBy{4});
    take_in();
    ASSERT_EQ(backend_.submitted.size(), 1U);
    EXPECT_EQ(submitted<Close>(0).generation, 3U);
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, ACloseOfNobodyKnowsWhoIsSetAside) {
    backend_.commit(Command{testing::create("s")});
    write(close_line());
    take_in();
    EXPECT_TRUE(backend_.submitted.empty());
    EXPECT_EQ(files(), "s.jsonl.bad");
    EXPECT_FALSE(session()->end);
}

TEST_F(SpoolTaking, AnotherOwnerUnderTheSameIdIsNotTheSame) {
    struct Case {
        int pid;
        int ticks;
        Generation generation;
        bool is_the_same;
    };
    for (const auto& [pid, ticks, generation, is_the_same] :
         {Case{4711, 7, 1, true}, Case{4711, 8, 1, false}, Case{4712, 7, 1, false},
          Case{4711, 7, 2, true}}) {
        fs::remove_all(dir_);
        fs::create_directories(dir_);
        write(create_line());
        auto owner = testing::process_owner(pid);
        owner.process.start_ticks = static_cast<std::uint64_t>(ticks);
        refuse(ErrorCode::owned,
               OwnedBy{.owner = owner, .generation = generation, .status = {}, .how_known = {}});
        take_in();
        EXPECT_EQ(files(), is_the_same ? "" : "s.jsonl") << pid << " " << ticks;
    }
}

TEST_F(SpoolTaking, ARunWhoseIdIsHeldByAnotherIsItsNextLife) {
    auto other = testing::create("s");
    other.draft.owner = testing::process_owner(99);
    ASSERT_TRUE(backend_.commit(Command{other}));
    write(create_line() + close_line());
    take_in();
    EXPECT_EQ(files(), "s.jsonl") << "it waits";
    EXPECT_EQ(session()->generation, 1U);
    EXPECT_FALSE(session()->end);

    ASSERT_TRUE(backend_.commit(Command{testing::close("s")}));
    take_in();
    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 2U);
    EXPECT_EQ(session()->owner.process.pid, 4711);
    EXPECT_EQ(session()->end->reason, Reason::exited);
}

TEST_F(SpoolTaking, OfAnotherNamespaceThePidMayHaveBeenTranslated) {
    write(create_line());
    auto owner = testing::process_owner(9);
    owner.process.pid_namespace = 2;
    refuse(ErrorCode::owned,
           OwnedBy{.owner = owner, .generation = 1, .status = {}, .how_known = {}});
    take_in();
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, AnEarlierLifeUnderTheSameIdIsResumed) {
    backend_.commit(Command{testing::create("s")});
    backend_.commit(Command{testing::close("s")});
    write(create_line() + close_line());
    take_in();

    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 2U);
    EXPECT_EQ(session()->end->reason, Reason::exited);
    EXPECT_EQ(session()->end->ended_at, ended);
    ASSERT_EQ(backend_.submitted.size(), 2U);
    EXPECT_EQ(submitted<Resume>(1).owner.process.pid, 4711);
    EXPECT_EQ(submitted<Resume>(1).at, started);
    EXPECT_EQ(submitted<Resume>(1).title, "spooled");
    EXPECT_EQ(submitted<Resume>(1).cwd, "/srv");
    EXPECT_FALSE(submitted<Resume>(1).takeover);
}

TEST_F(SpoolTaking, OneThatEndsAgainIsNotResumedForEver) {
    write(create_line());
    auto other = testing::process_owner(5).process;
    for (int i = 0; i < 2; ++i) {
        refuse(ErrorCode::ended,
               EndedAs{.reason = {}, .ended_at = {}, .generation = 1, .process = other});
    }
    take_in();
    EXPECT_EQ(backend_.submitted.size(), 2U);
    EXPECT_EQ(files(), "s.jsonl.bad");
}

TEST_F(SpoolTaking, ItsOwnEndIsOnRecordAlready) {
    write(create_line());
    take_in();
    ASSERT_TRUE(session());
    backend_.commit(Command{testing::close("s")});
    write(create_line() + close_line());
    take_in();
    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 1U);
    EXPECT_EQ(session()->end->reason, Reason::completed) << "once";
}

TEST_F(SpoolTaking, ItsOwnLifeIsOnRecordAlsoWhenAnotherCameAfterIt) {
    write(create_line());
    take_in();
    ASSERT_TRUE(session());
    backend_.commit(Command{testing::resume("s", /*takeover=*/true)});
    write(create_line() + close_line());
    take_in();
    EXPECT_EQ(files(), "") << "while the other one has it";
    EXPECT_FALSE(session()->end);

    backend_.commit(Command{testing::close("s")});
    write(create_line() + close_line());
    take_in();
    EXPECT_EQ(files(), "") << "and when that is over";
    EXPECT_EQ(session()->generation, 2U) << "it is not told once more";
}

TEST_F(SpoolTaking, ALifeThatIsTheSecondOfItsSessionIsClosedAsThat) {
    backend_.commit(Command{testing::create("s")});
    backend_.commit(Command{testing::close("s")});
    write(create_line());
    take_in();
    ASSERT_EQ(session()->generation, 2U);
    write(create_line() + close_line());
    take_in();
    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 2U);
    ASSERT_TRUE(session()->end);
    EXPECT_EQ(session()->end->reason, Reason::exited);
}

TEST_F(SpoolTaking, ACreateThatWasSaidTwiceCountsOnce) {
    write(create_line() + create_line() + close_line());
    take_in();
    ASSERT_EQ(backend_.submitted.size(), 1U);
    EXPECT_TRUE(submitted<Create>(0).and_close);
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, TwoCreatesOfTwoProcessesAreTwoLives) {
    write(create_line(4711, 7) + close_line() + create_line(4712, 8) + close_line());
    take_in();
    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 2U);
}

TEST_F(SpoolTaking, WhatHoldsNoWholeLineIsSetAsideAndWhatIsEmptyGoes) {
    write("{\"v\":1");
    write("", "t.jsonl");
    write("kept", "notes.txt");
    take_in();
    EXPECT_EQ(files(), "notes.txt s.jsonl.bad");
}

TEST_F(SpoolTaking, WhatIsSetAsideOverwritesNothing) {
    for (int i = 0; i < 3; ++i) {
        write(fmt::format("nonsense {}\n", i));
        take_in();
    }
    EXPECT_EQ(files(), "s.jsonl.bad s.jsonl.bad.2 s.jsonl.bad.3");
    std::string first;
    std::getline(std::ifstream(dir_ + "/s.jsonl.bad"), first);
    EXPECT_EQ(first, "nonsense 0");
}

TEST_F(SpoolTaking, AFullQueueOfReadsLeavesEverythingForTheNextLook) {
    for (int i = 0; i < 20; ++i) write(create_line(), fmt::format("s{}.jsonl", i));
    backend_.refuses_reads = true;
    take_in();
    backend_.refuses_reads = false;
    EXPECT_TRUE(backend_.submitted.empty());
    take_in();
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, OneLookAtATime) {
    backend_.holds_reads = true;
    write(create_line() + close_line());
    take_in();
    take_in();
    backend_.do_reads();  // found
    take_in();
    backend_.do_reads();  // loaded
    backend_.do_reads();
    EXPECT_EQ(backend_.submitted.size(), 1U);
    EXPECT_EQ(files(), "");
}

TEST_F(SpoolTaking, WhatCannotBeDeletedIsTakenInAgainWithoutASecondLife) {
    write(create_line() + close_line());
    testing::with_refused_calls({SYS_unlink, SYS_unlinkat}, EROFS, [&] { take_in(); });
    EXPECT_EQ(files(), "s.jsonl");
    ASSERT_TRUE(session() && session()->end);

    take_in();

    EXPECT_EQ(files(), "");
    EXPECT_EQ(session()->generation, 1U);
}

TEST_F(SpoolTaking, WhatCannotBeSetAsideStays) {
    write("no JSON\n");
    testing::with_refused_calls({SYS_rename, SYS_renameat, SYS_renameat2}, EROFS,
                                [&] { take_in(); });
    EXPECT_EQ(files(), "s.jsonl");
}

TEST_F(SpoolTaking, WhereAThousandOfItsNameWereSetAsideItStays) {
    write("no JSON\n");
    write("", "s.jsonl.bad");
    for (int i = 2; i <= 1000; ++i) write("", fmt::format("s.jsonl.bad.{}", i));
    take_in();
    EXPECT_TRUE(fs::exists(dir_ + "/s.jsonl"));
}

TEST_F(SpoolTaking, WhatAnotherUserWroteIsNotTakenIn) {
    if (geteuid() != 0) GTEST_SKIP() << "needs to be root, to make a file that is another user's";
    write(create_line());
    ASSERT_EQ(::chown((dir_ + "/s.jsonl").c_str(), 65'534, 65'534), 0);
    take_in();
    EXPECT_EQ(files(), "s.jsonl.bad");
    EXPECT_FALSE(session());
}

TEST_F(SpoolTaking, LinesOfAnotherVersionAreSetAside) {
    auto line = create_line();
    line.replace(line.find("\"v\":1"), 5, "\"v\":2");
    write(line);
    take_in();
    EXPECT_EQ(files(), "s.jsonl.bad");
    EXPECT_FALSE(session());
}

TEST_F(SpoolTaking, MoreLinesThanAnyRunWritesAreSetAside) {
    std::string text;
    for (std::size_t i = 0; i <= limits::spool_lines_max; ++i) text += create_line();
    write(text);
    take_in();
    EXPECT_EQ(files(), "s.jsonl.bad");
    EXPECT_FALSE(session());
}

}  // namespace
}  // namespace knell
