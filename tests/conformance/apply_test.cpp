// A change has one meaning, `apply`: after each batch of any history, every row of SQLite is what
// that makes of the row before.

#include "store/apply.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_history.hpp"
#include "readable.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

/// The rows as `apply` makes them, newest first as a store lists them.
class Rows {
  public:
    void write(const Batch& batch) {
        for (const auto& change : batch.changes) {
            const auto* opened = std::get_if<Opened>(&change);
            auto& row = rows_[opened ? opened->session.ordinal : ref_of(change)->ordinal];
            RC_ASSERT(fits(row, change));
            apply(row, change);
        }
    }
    std::vector<Session> all() const {
        std::vector<Session> rows;
        for (const auto& [ordinal, row] : rows_) rows.push_back(row);
        return rows;
    }

  private:
    std::map<Ordinal, Session, std::greater<>> rows_;
};

RC_GTEST_PROP(Apply, IsWhatSqlDoesToARow, ()) {
    const auto sqlite = store_kinds().at(1).make();
    RandomHistory history(*rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>()));
    Rows rows;
    for (int batch = *rc::gen::inRange(1, 20); batch > 0; --batch) {
        const auto next = history.next();
        RC_ASSERT(sqlite->store().commit(next).has_value());
        rows.write(next);
        if (history.one_in(5)) sqlite->reopen();
        RC_ASSERT(read_all(sqlite->store()).sessions == rows.all());
    }
}

Session open_row() {
    Session row;
    row.generation = 2;
    return row;
}
Session ended_row() {
    auto row = open_row();
    row.end = End{};
    return row;
}

TEST(Apply, AChangeFitsARowOfItsGenerationAndState) {
    const SessionRef ref{SessionId("s"), 1, 2};
    const std::vector<Change> of_the_living{Ended{ref, {}},
                                            Appended{ref, 1, {}, {}, {}},
                                            TurnSet{ref, {}, {}},
                                            LivenessMarked{ref, {}, {}},
                                            Parked{ref, {}, {}},
                                            Seen{ref, {}},
                                            AttachmentSet{ref, 1, {}, false, {}}};
    for (const auto& change : of_the_living) {
        EXPECT_TRUE(fits(open_row(), change)) << change.index();
        EXPECT_FALSE(fits(ended_row(), change)) << change.index();
    }
    EXPECT_TRUE(fits(ended_row(), LeftoversSettled{ref, {}}));
    EXPECT_FALSE(fits(open_row(), LeftoversSettled{ref, {}}));

    EXPECT_TRUE(fits(open_row(), Labelled{ref, {}}));
    EXPECT_TRUE(fits(ended_row(), Labelled{ref, {}}));

    const Reopened same{ref};
    EXPECT_FALSE(fits(open_row(), same));
    const Reopened next{{ref.id, ref.ordinal, 3}};
    EXPECT_TRUE(fits(open_row(), next));
    EXPECT_TRUE(fits(ended_row(), next));
}

}  // namespace
}  // namespace knell::testing
