// What a store refuses, held against each store by itself: no engine stands in front of it.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "readable.hpp"
#include "store/apply.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto noon = from_millis(1'800'000'000'000);

enum class Row : std::uint8_t { open, ended };

constexpr Ordinal taken_over = 1;  // open, in its generation 2
constexpr Ordinal ended = 2;       // ended, in its generation 2
constexpr Ordinal bystander = 3;   // nobody's business
constexpr Ordinal missing = 4;

SessionId id_of(Ordinal ordinal) {
    return SessionId("s" + std::to_string(ordinal));
}

Session session(Ordinal ordinal) {
    Session session;
    session.ordinal = ordinal;
    session.id = id_of(ordinal);
    session.source = "cli";
    session.owner = process_owner(100 + static_cast<int>(ordinal));
    session.started_at = session.last_activity_at = session.last_seen_at = noon;
    session.last_interaction_at = noon;
    return session;
}

End end_at(WallTime time) {
    End end;
    end.ended_at = end.ended_after = end.ended_before = time;
    end.evidence = "said so";
    end.leftovers = {leftover(7, Fate::stopping)};
    return end;
}

Event event(Seq seq, EventType type, const SessionId& id, Generation generation) {
    Event event;
    event.seq = seq;
    event.type = type;
    event.time = noon;
    event.session_id = id;
    event.generation = generation;
    return event;
}

/// A kind of change to a row that there is.
struct Kind {
    const char* name;
    Row fits;
    Change (*make)(Ordinal, Generation);
};

template <typename Changed>
Changed on(Ordinal ordinal, Generation generation) {
    Changed change;
    change.id = id_of(ordinal);
    change.ordinal = ordinal;
    change.generation = generation;
    return change;
}

/// Of a background process: see process_contract_test.
constexpr std::size_t process_changes = 6;

/// All but Opened, which makes its row.  See fits_both.
const std::array<Kind, std::variant_size_v<Change> - process_changes - 1> kinds{{
    {"Reopened", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Reopened>(ordinal, generation + 1);
         change.owner = process_owner(200);
         change.at = noon + 5s;
         return change;
     }},
    {"Ended", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Ended>(ordinal, generation);
         change.end = end_at(noon + 5s);
         return change;
     }},
    {"Appended", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Appended>(ordinal, generation);
         change.first_number = 1;
         change.messages = {{"user", "hello", "", 3}};
         change.tally = {.messages = 1, .input_tokens = 3, .output_tokens = 0};
         change.at = noon + 5s;
         return change;
     }},
    {"TurnSet", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<TurnSet>(ordinal, generation);
         change.turn_since = noon + 5s;
         change.at = noon + 5s;
         return change;
     }},
    {"LivenessMarked", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<LivenessMarked>(ordinal, generation);
         change.unknown_since = noon + 5s;
         return change;
     }},
    {"Parked", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Parked>(ordinal, generation);
         change.since = noon + 5s;
         change.before = noon + 6s;
         change.why = "exited, exit 3";
         return change;
     }},
    {"Seen", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Seen>(ordinal, generation);
         change.at = noon + 5s;
         return change;
     }},
    {"Labelled", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Labelled>(ordinal, generation);
         change.labels = {.title = "Billing", .pinned = true};
         return change;
     }},
    {"AttachmentSet", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<AttachmentSet>(ordinal, generation);
         change.attached = 2;
         change.told = true;
         return change;
     }},
    {"BackgroundSet", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<BackgroundSet>(ordinal, generation);
         change.since = change.at = noon + 5s;
         return change;
     }},
    {"LeftoversSettled", Row::ended,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<LeftoversSettled>(ordinal, generation);
         change.leftovers = {leftover(7, Fate::gone)};
         return change;
     }},
    {"MessagesCopied", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<MessagesCopied>(ordinal, generation);
         change.from = bystander;
         change.first_number = 1;
         change.tally = {.messages = 0, .input_tokens = 3, .output_tokens = 0};
         return change;
     }},
    {"Interacted", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Interacted>(ordinal, generation);
         change.at = noon + 5s;
         return change;
     }},
    {"Suspended", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<Suspended>(ordinal, generation);
         change.at = noon + 5s;
         change.why = "a person";
         return change;
     }},
    {"KeyTaken", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         return on<KeyTaken>(ordinal, generation);
     }},
    {"ResetHeld", Row::open,
     [](Ordinal ordinal, Generation generation) -> Change {
         auto change = on<ResetHeld>(ordinal, generation);
         change.since = noon + 5s;
         change.by = {ProcessId::from_bits(7), ProcessId::from_bits(8)};
         return change;
     }},
}};

class StoreContract : public ::testing::TestWithParam<StoreKind> {
  protected:
    StoreContract() : under_test_(GetParam().make()) {
        Batch batch;
        for (const auto ordinal : {taken_over, ended, bystander}) {
            batch.changes.emplace_back(Opened{.session = session(ordinal), .reaper = {}});
        }
        for (const auto ordinal : {taken_over, ended}) {
            batch.changes.push_back(kinds.at(0).make(ordinal, 1));
        }
        batch.changes.push_back(kinds.at(1).make(ended, 2));
        batch.events = {event(1, EventType::session_start, id_of(ended), 2),
                        event(2, EventType::session_end, id_of(ended), 2)};
        batch.events.back().end = end_at(noon);
        const auto committed = store().commit(batch);
        EXPECT_TRUE(committed) << committed.error().message;
    }

    Store& store() { return under_test_->store(); }

    /// With an error, and no trace of it: neither now nor after a restart.
    Error expect_refused(const Batch& batch, const std::string& what) {
        SCOPED_TRACE(what);
        const auto before = read_all(store());
        const auto refused = store().commit(batch);
        EXPECT_FALSE(refused);
        EXPECT_EQ(difference(before, read_all(store())), "");
        under_test_->reopen();
        EXPECT_EQ(difference(before, read_all(store())), "");
        return refused ? Error{} : refused.error();
    }
    Error expect_refused(const Change& change, const std::string& what) {
        // Between two that could be written.
        Batch batch;
        batch.changes = {kinds.at(3).make(bystander, 1), change, kinds.at(4).make(bystander, 1)};
        batch.events = {event(3, EventType::notice, {}, 0)};
        return expect_refused(batch, what);
    }
    /// Because its row is not what it was decided for.
    void expect_conflict(const Change& change, const std::string& what, const std::string& found) {
        const auto error = expect_refused(change, what);
        EXPECT_EQ(error.code, ErrorCode::fenced) << what;
        EXPECT_THAT(error.message, HasSubstr(id_of(ref_of(change)->ordinal).text())) << what;
        EXPECT_THAT(error.message, HasSubstr("found " + found)) << what;
    }

    std::unique_ptr<StoreUnderTest> under_test_;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, StoreContract, ::testing::ValuesIn(store_kinds_on_disk()),
                         [](const auto& kind) { return kind.param.name; });

Ordinal row_that_fits(const Kind& kind) {
    return kind.fits == Row::open ? taken_over : ended;
}

bool fits_both(const Kind& kind) {
    const std::string_view name = kind.name;
    return name == "Reopened" || name == "Labelled" || name == "Suspended";
}

TEST_P(StoreContract, AChangeThatFitsItsRowIsWrittenToThatRowOnly) {
    for (const auto& kind : kinds) {
        SCOPED_TRACE(kind.name);
        under_test_ = GetParam().make();
        Batch rows;
        for (const auto ordinal : {taken_over, bystander}) {
            rows.changes.emplace_back(Opened{.session = session(ordinal), .reaper = {}});
            if (kind.fits == Row::ended) rows.changes.push_back(kinds.at(1).make(ordinal, 1));
        }
        ASSERT_TRUE(store().commit(rows));
        const auto before = read_all(store());

        Batch batch;
        batch.changes = {kind.make(taken_over, 1)};
        ASSERT_TRUE(store().commit(batch));

        under_test_->reopen();
        const auto after = read_all(store());
        EXPECT_NE(after.found.back(), before.found.back());
        EXPECT_EQ(after.found.front(), before.found.front());
    }
}

TEST_P(StoreContract, AnotherGenerationIsRefused) {
    for (const auto& kind : kinds) {
        for (const Generation generation : {1U, 3U}) {
            const auto change = kind.make(row_that_fits(kind), generation);
            expect_conflict(change, fmt::format("{} of generation {}", kind.name, generation),
                            kind.fits == Row::open ? "generation 2, open" : "generation 2, ended");
        }
    }
}

TEST_P(StoreContract, ARowInTheOtherStateIsRefused) {
    for (const auto& kind : kinds) {
        if (fits_both(kind)) continue;
        const bool is_open = kind.fits == Row::open;
        expect_conflict(kind.make(is_open ? ended : taken_over, 2), kind.name,
                        is_open ? "generation 2, ended" : "generation 2, open");
    }
}

TEST_P(StoreContract, ARowThatIsNotThereIsRefused) {
    for (const auto& kind : kinds) {
        expect_conflict(kind.make(missing, 1), kind.name, "no such row");
    }
}

TEST_P(StoreContract, AnEndedSessionMayBeOpenedAgain) {
    Batch batch;
    batch.changes = {kinds.at(0).make(ended, 2)};
    ASSERT_TRUE(store().commit(batch));

    const auto found = store().find(id_of(ended));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->generation, 3U);
    EXPECT_FALSE((*found)->end);
}

TEST_P(StoreContract, ASecondRowOfAnIdOrAPlaceIsRefused) {
    auto same_id = session(missing);
    same_id.id = id_of(bystander);
    expect_refused(Opened{.session = same_id, .reaper = {}}, "its id is taken");

    auto same_place = session(bystander);
    same_place.id = SessionId("new");
    expect_refused(Opened{.session = same_place, .reaper = {}}, "its place is taken");

    // Eight in a row are written by a statement of their own.
    Batch many;
    for (Ordinal ordinal = missing; ordinal < missing + 7; ++ordinal) {
        many.changes.emplace_back(Opened{.session = session(ordinal), .reaper = {}});
    }
    many.changes.emplace_back(Opened{.session = session(missing), .reaper = {}});
    expect_refused(many, "the eighth is the first again");
}

TEST_P(StoreContract, AnEndWithBoundsOutOfOrderIsRefused) {
    for (const auto shift : {-1s, 1s}) {
        auto change = on<Ended>(taken_over, 2);
        change.end = end_at(noon);
        change.end.ended_at += shift;
        expect_refused(change, fmt::format("{} s beyond its bounds", shift.count()));
    }
}

TEST_P(StoreContract, AMessageThatIsThereIsNotWrittenAgain) {
    Batch batch;
    batch.changes = {kinds.at(2).make(bystander, 1)};
    ASSERT_TRUE(store().commit(batch));

    expect_refused(batch, "the same again");
}

TEST_P(StoreContract, AnEventThatIsNotTheNextIsRefused) {
    for (const Seq seq : {1, 2, 4}) {
        Batch batch;
        batch.events = {event(seq, EventType::notice, {}, 0)};
        expect_refused(batch, fmt::format("{} after 2", seq));
    }
    for (const Seq hole : {4, 8, 15}) {
        Batch batch;
        for (Seq seq = 3; seq < 20; ++seq) {
            batch.events.push_back(event(seq < hole ? seq : seq + 1, EventType::notice, {}, 0));
        }
        expect_refused(batch, fmt::format("without {}", hole));
    }
}

TEST_P(StoreContract, ASecondStartOrEndOfAGenerationIsRefused) {
    for (const auto type : {EventType::session_start, EventType::session_end}) {
        Batch batch;
        batch.events = {event(3, type, id_of(ended), 2)};
        if (type == EventType::session_end) batch.events.back().end = end_at(noon);
        expect_refused(batch, std::string(name_in(event_type_names, type)));
    }
}

TEST_P(StoreContract, TrimmingKeepsTheNewestAndNumberingGoesOnAfterAReopen) {
    Batch batch;
    for (Seq seq = 3; seq <= 10; ++seq) {
        batch.events.push_back(event(seq, EventType::notice, {}, 0));
    }
    ASSERT_TRUE(store().commit(batch));

    EXPECT_EQ(store().trim_events(/*last=*/4, /*rows_max=*/3), 4);
    EXPECT_EQ(store().trim_events(/*last=*/4, /*rows_max=*/3), 5);
    EXPECT_EQ(store().trim_events(/*last=*/10, /*rows_max=*/100), 10);
    EXPECT_EQ(store().trim_events(/*last=*/1000, /*rows_max=*/100), 10);

    under_test_->reopen();
    EXPECT_EQ(store().heads()->first_seq, 10);
    EXPECT_EQ(store().heads()->seq, 10);
    batch.events = {event(11, EventType::notice, {}, 0)};
    EXPECT_TRUE(store().commit(batch));
    EXPECT_EQ(store().trim_events(/*last=*/11, /*rows_max=*/100), 11);
}

TEST_P(StoreContract, AnEmptyLogCanBeTrimmed) {
    under_test_ = GetParam().make();

    EXPECT_EQ(store().trim_events(/*last=*/1000, /*rows_max=*/100), 0);
}

}  // namespace
}  // namespace knell::testing
