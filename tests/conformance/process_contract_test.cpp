// What a store keeps of background processes, and what it refuses, held against each store by
// itself: no engine stands in front of it.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "readable.hpp"
#include "store/apply.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto noon = from_millis(1'800'000'000'000);

constexpr std::int64_t running = 1;
constexpr std::int64_t exited_long_ago = 2;
constexpr std::int64_t bystander = 3;  // nobody's business
constexpr std::int64_t missing = 4;

ProcessId id_of(std::int64_t number) {
    return ProcessId::from_bits(static_cast<std::uint64_t>(number));
}

BackgroundProcess process(std::int64_t number, std::string session = "open") {
    BackgroundProcess process;
    process.number = number;
    process.id = id_of(number);
    process.session_id = SessionId(std::move(session));
    process.generation = 1;
    process.task_id = "t";
    process.process = {static_cast<std::int32_t>(100 + number), 5, 7, "boot-1"};
    process.argv = {"python3", "-m", "", "a\nb"};
    process.cwd = "/srv";
    process.title = "server";
    process.started_at = process.activity.since = noon;
    process.activity.evidence = "it was just started";
    return process;
}

ProcessExit exit_at(WallTime time) {
    return {.kind = ExitKind::signaled,
            .number = 9,
            .evidence = "its parent said so",
            .at = time,
            .after = time - 1s,
            .before = time + 1s};
}

Session session(Ordinal ordinal, std::string id, std::string key) {
    Session session;
    session.ordinal = ordinal;
    session.id = SessionId(std::move(id));
    session.key = std::move(key);
    session.source = "cli";
    session.started_at = session.last_activity_at = session.last_seen_at = noon;
    return session;
}

struct Kind {
    const char* name;
    Change (*make)(std::int64_t number, const ProcessId& id);
};

/// All but ProcessOpened, which makes its row.
const std::array<Kind, 6> kinds{{
    {"ProcessEnded",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessEnded{{number, id}, exit_at(noon + 5s)};
     }},
    {"ProcessMarked",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessMarked{{number, id},
                              {ProcessActivity::listening, noon + 5s, "listens on port 8765"},
                              noon + 6s};
     }},
    {"ProcessVouched",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessVouched{{number, id}, noon + 5s};
     }},
    {"ProcessStopAsked",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessStopAsked{{number, id}, noon + 5s, "a person"};
     }},
    {"ProcessStopAsked, taken back",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessStopAsked{{number, id}, std::nullopt, "it owns a session"};
     }},
    {"ProcessHandedOver",
     [](std::int64_t number, const ProcessId& id) -> Change {
         return ProcessHandedOver{{number, id}, SessionId("other"), 4};
     }},
}};

Change made(const Kind& kind, std::int64_t number) {
    return kind.make(number, id_of(number));
}

class ProcessContract : public ::testing::TestWithParam<StoreKind> {
  protected:
    ProcessContract() : under_test_(GetParam().make()) {
        Batch batch;
        batch.changes = {Opened{.session = session(1, "open", "k"), .reaper = {}},
                         Opened{.session = session(2, "ended", "k"), .reaper = {}},
                         Opened{.session = session(3, "other", ""), .reaper = {}}};
        Ended ended{{SessionId("ended"), 2, 1}, {}};
        ended.end.ended_at = ended.end.ended_after = ended.end.ended_before = noon;
        batch.changes.emplace_back(std::move(ended));
        batch.changes.emplace_back(ProcessOpened{process(running)});
        batch.changes.emplace_back(ProcessOpened{process(exited_long_ago, "ended")});
        batch.changes.emplace_back(ProcessOpened{process(bystander, "gone")});
        batch.changes.emplace_back(
            ProcessEnded{{exited_long_ago, id_of(exited_long_ago)}, exit_at(noon)});
        must(batch);
    }

    Store& store() { return under_test_->store(); }
    void must(const Batch& batch) {
        const auto written = store().commit(batch);
        ASSERT_TRUE(written) << written.error().message;
    }
    void must(Change change) {
        Batch batch;
        batch.changes = {std::move(change)};
        must(batch);
    }
    /// With an error, and no trace of it: neither now nor after a restart.
    Error expect_refused(const Change& change, const std::string& what) {
        SCOPED_TRACE(what);
        Batch batch;
        // Between two that could be written.
        batch.changes = {made(kinds.at(1), bystander), change, made(kinds.at(2), bystander)};
        const auto before = read_all(store());
        const auto refused = store().commit(batch);
        EXPECT_FALSE(refused);
        EXPECT_EQ(difference(before, read_all(store())), "");
        under_test_->reopen();
        EXPECT_EQ(difference(before, read_all(store())), "");
        return refused ? Error{} : refused.error();
    }
    void expect_conflict(const Change& change, const std::string& what, const std::string& found) {
        const auto error = expect_refused(change, what);
        EXPECT_EQ(error.code, ErrorCode::fenced) << what;
        EXPECT_THAT(error.message, HasSubstr(process_ref_of(change)->id.text())) << what;
        EXPECT_THAT(error.message, HasSubstr("found " + found)) << what;
    }
    std::vector<std::int64_t> listed(ProcessQuery query) {
        if (query.limit == 0) query.limit = 100;
        const auto page = (*store().open_reader())->processes(query);
        EXPECT_TRUE(page) << page.error().message;
        std::vector<std::int64_t> numbers;
        for (const auto& row : page->processes) numbers.push_back(row.process.number);
        return numbers;
    }
    std::optional<ProcessOnRecord> shown(const ProcessId& id) {
        const auto found = (*store().open_reader())->process(id);
        EXPECT_TRUE(found) << found.error().message;
        return found ? *found : std::nullopt;
    }

    std::unique_ptr<StoreUnderTest> under_test_;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, ProcessContract, ::testing::ValuesIn(store_kinds_on_disk()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(ProcessContract, ARowIsReadAsItWasWritten) {
    auto whole = process(missing);
    whole.origin = ProcessOrigin::registered;
    whole.stale_since = noon + 1s;
    whole.vouched_until = noon + 2s;
    whole.stop_asked_at = noon + 3s;
    whole.stop_asked_by = "a person";
    must(ProcessOpened{whole});
    under_test_->reopen();

    EXPECT_EQ(shown(whole.id), (ProcessOnRecord{whole, ProcessOnRecord::Session::open}));
    EXPECT_EQ(store().heads()->process_number, missing);
    whole.exit = exit_at(noon + 9s);
    must(ProcessEnded{{whole.number, whole.id}, *whole.exit});
    under_test_->reopen();
    EXPECT_EQ(shown(whole.id), (ProcessOnRecord{whole, ProcessOnRecord::Session::open}));
    EXPECT_EQ(shown(id_of(1000)), std::nullopt);
}

TEST_P(ProcessContract, SaysWhatBecameOfItsSession) {
    EXPECT_EQ(shown(id_of(running))->session, ProcessOnRecord::Session::open);
    EXPECT_EQ(shown(id_of(exited_long_ago))->session, ProcessOnRecord::Session::ended);
    EXPECT_EQ(shown(id_of(bystander))->session, ProcessOnRecord::Session::none);
}

TEST_P(ProcessContract, AChangeIsWrittenToItsRowOnly) {
    for (const auto& kind : kinds) {
        SCOPED_TRACE(kind.name);
        under_test_ = GetParam().make();
        Batch rows;
        rows.changes = {ProcessOpened{process(running)}, ProcessOpened{process(bystander)}};
        must(rows);
        const auto change = made(kind, running);
        auto expected = process(running);
        apply(expected, change);

        must(change);

        under_test_->reopen();
        EXPECT_NE(expected, process(running));
        EXPECT_EQ(shown(id_of(running))->process, expected);
        EXPECT_EQ(shown(id_of(bystander))->process, process(bystander));
    }
}

TEST_P(ProcessContract, AProcessThatHasExitedIsNotChanged) {
    for (const auto& kind : kinds) {
        expect_conflict(made(kind, exited_long_ago), kind.name,
                        fmt::format("process {}, exited", id_of(exited_long_ago).text()));
    }
}

TEST_P(ProcessContract, AnotherIdIsRefused) {
    for (const auto& kind : kinds) {
        expect_conflict(kind.make(running, id_of(bystander)), kind.name,
                        fmt::format("process {}, running", id_of(running).text()));
    }
}

TEST_P(ProcessContract, ARowThatIsNotThereIsRefused) {
    for (const auto& kind : kinds) {
        expect_conflict(made(kind, missing), kind.name, "no such row");
        expect_conflict(kind.make(missing, id_of(running)), kind.name, "no such row");
    }
}

TEST_P(ProcessContract, IsOnRecordOnceWhileItRuns) {
    auto same_number = process(missing);
    same_number.number = running;
    expect_refused(ProcessOpened{same_number}, "its number is taken");
    same_number.number = exited_long_ago;
    expect_refused(ProcessOpened{same_number}, "its number is taken by one that is over");

    auto same_id = process(missing);
    same_id.id = id_of(running);
    expect_refused(ProcessOpened{same_id}, "its id is taken");

    auto same_process = process(missing);
    same_process.process = process(running).process;
    expect_refused(ProcessOpened{same_process}, "it is on record by another id");
    same_process.process.boot_id = "boot-2";
    must(ProcessOpened{same_process});
}

TEST_P(ProcessContract, WhatIsOverMayComeOnRecordAgain) {
    auto again = process(missing);
    again.id = id_of(running);
    again.process = process(running).process;
    Batch batch;
    batch.changes = {made(kinds.at(0), running), ProcessOpened{again}};
    must(batch);

    EXPECT_EQ(shown(again.id)->process, again) << "the newest";
    EXPECT_THAT(listed({.exited_since = noon}), ElementsAre(missing, bystander, 2, running));
}

TEST_P(ProcessContract, AnExitWithBoundsOutOfOrderIsRefused) {
    for (const auto shift : {-2s, 2s}) {
        auto exit = exit_at(noon);
        exit.at += shift;
        expect_refused(ProcessEnded{{running, id_of(running)}, exit},
                       fmt::format("{} s beyond its bounds", shift.count()));
    }
}

TEST_P(ProcessContract, ListsWhatRunsAndWhatWasSeenToExitSince) {
    EXPECT_THAT(listed({}), ElementsAre(bystander, running));
    EXPECT_THAT(listed({.exited_since = noon + 1s}), ElementsAre(3, 2, 1));
    EXPECT_THAT(listed({.exited_since = noon + 2s}), ElementsAre(3, 1)) << "gone by 1 s";
    EXPECT_THAT(listed({.running = false, .exited_since = WallTime{}}), ElementsAre(2));
    EXPECT_THAT(listed({.running = false}), IsEmpty());
}

TEST_P(ProcessContract, ListsThoseOfASessionOrOfAKey) {
    const auto all = WallTime{};
    EXPECT_THAT(listed({.session_id = SessionId("open"), .exited_since = all}), ElementsAre(1));
    EXPECT_THAT(listed({.session_id = SessionId("gone"), .exited_since = all}), ElementsAre(3));
    EXPECT_THAT(listed({.session_id = SessionId("ended")}), IsEmpty());
    EXPECT_THAT(listed({.key = "k", .exited_since = all}), ElementsAre(2, 1));
    EXPECT_THAT(listed({.key = "k", .exited_since = noon}), ElementsAre(2, 1));
    EXPECT_THAT(listed({.key = "k"}), ElementsAre(1));
    EXPECT_THAT(listed({.key = "another"}), IsEmpty());
    EXPECT_THAT(listed({.session_id = SessionId("ended"), .key = "k", .exited_since = all}),
                ElementsAre(2));
}

TEST_P(ProcessContract, PagesEndByNumberAndByBytes) {
    Batch batch;
    for (std::int64_t number = missing; number < missing + 20; ++number) {
        batch.changes.emplace_back(ProcessOpened{process(number)});
        if (number % 3 == 0) batch.changes.push_back(made(kinds.at(0), number));
    }
    must(batch);
    const auto reader = *store().open_reader();
    ProcessQuery query{.exited_since = WallTime{}, .limit = 7};
    std::vector<std::int64_t> numbers;
    int pages = 0;
    do {
        const auto page = *reader->processes(query);
        ++pages;
        for (const auto& row : page.processes) numbers.push_back(row.process.number);
        query.before = page.next;
    } while (query.before);
    EXPECT_EQ(pages, 4);
    ASSERT_EQ(numbers.size(), 23U);
    EXPECT_TRUE(std::ranges::is_sorted(numbers, std::greater<>{}));

    const auto one = *reader->processes({.limit = 7, .bytes_max = 1});
    EXPECT_EQ(one.processes.size(), 1U);
    EXPECT_EQ(one.next, one.processes.back().process.number);
}

TEST_P(ProcessContract, EveryRunningOneIsVisitedOldestFirst) {
    std::vector<std::int64_t> visited;
    ASSERT_TRUE(store().for_each_running_process([&](const BackgroundProcess& process) {
        visited.push_back(process.number);
        EXPECT_TRUE(store().find(process.session_id)) << "a visitor may ask for more";
    }));
    EXPECT_THAT(visited, ElementsAre(running, bystander));
}

TEST_P(ProcessContract, MayBeToldOfAfterTheEndOfItsSession) {
    Batch batch;
    Seq seq = 0;
    for (const auto type :
         {EventType::session_start, EventType::process_start, EventType::session_end,
          EventType::process_stale, EventType::process_exit, EventType::process_exit}) {
        Event event;
        event.seq = ++seq;
        event.type = type;
        event.time = noon;
        event.session_id = SessionId("ended");
        event.generation = 1;
        event.source = "cli";
        event.after_end = seq > 3;
        if (type == EventType::session_end) event.end = End{};
        if (name_in(event_type_names, type).starts_with("process")) {
            event.process = process(exited_long_ago, "ended");
            if (type == EventType::process_exit) event.process->exit = exit_at(noon);
        }
        batch.events.push_back(std::move(event));
    }
    must(batch);
    under_test_->reopen();

    const auto reader = *store().open_reader();
    EXPECT_EQ(reader->events({.limit = 10, .session_id = SessionId("ended")})->events,
              batch.events);
    EXPECT_EQ(reader->events({.limit = 10})->events, batch.events);
}

TEST_P(ProcessContract, ASessionIsListedByItsBackgroundWork) {
    const auto status = [&](Status status) {
        const auto page =
            (*store().open_reader())->list({.status = status, .all = true, .limit = 9});
        std::vector<std::string> ids;
        for (const auto& session : page->sessions) ids.push_back(session.id.text());
        return ids;
    };
    EXPECT_THAT(status(Status::background), IsEmpty());
    const SessionRef ref{SessionId("open"), 1, 1};
    must(BackgroundSet{ref, noon, noon, {}});
    EXPECT_THAT(status(Status::background), ElementsAre("open"));
    EXPECT_THAT(status(Status::idle), ElementsAre("other"));

    must(TurnSet{ref, noon, noon});
    EXPECT_THAT(status(Status::background), IsEmpty());
    EXPECT_THAT(status(Status::running), ElementsAre("open"));
    must(TurnSet{ref, {}, noon});
    must(Parked{ref, noon, {}});
    EXPECT_THAT(status(Status::background), ElementsAre("open"));
    EXPECT_THAT(status(Status::detached), IsEmpty());

    Ended ended{ref, {}};
    ended.end.ended_at = ended.end.ended_after = ended.end.ended_before = noon;
    must(ended);
    EXPECT_THAT(status(Status::background), IsEmpty());
    EXPECT_FALSE((*store().find(ref.id))->background_since);
}

}  // namespace
}  // namespace knell::testing
