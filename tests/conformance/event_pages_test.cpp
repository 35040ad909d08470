// Reading the log page by page: what `next` promises, whatever the filter.

#include "core/limits.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

constexpr auto scan_max = static_cast<Seq>(limits::events_scan_max);

class EventPages : public ::testing::TestWithParam<StoreKind> {
  protected:
    EventPages() : under_test_(GetParam().make()) {
        auto reader = under_test_->store().open_reader();
        EXPECT_TRUE(reader) << reader.error().message;
        reader_ = std::move(*reader);
    }

    void write(std::size_t count, EventType type, const std::string& session = {}) {
        Batch batch;
        for (std::size_t i = 0; i < count; ++i) {
            Event event;
            event.seq = ++last_;
            event.type = type;
            event.session_id = SessionId(session);
            event.generation = session.empty() ? 0 : 1;
            batch.events.push_back(std::move(event));
        }
        const auto written = under_test_->store().commit(batch);
        ASSERT_TRUE(written) << written.error().message;
    }
    EventPage read(const EventQuery& query) {
        auto page = reader_->events(query);
        EXPECT_TRUE(page) << page.error().message;
        return page ? std::move(*page) : EventPage{};
    }

  private:
    std::unique_ptr<StoreUnderTest> under_test_;
    std::unique_ptr<Reader> reader_;
    Seq last_ = 0;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, EventPages, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(EventPages, AnEmptyLogHasNothingAndLeadsNowhere) {
    const auto page = read({.limit = 10});

    EXPECT_TRUE(page.events.empty());
    EXPECT_EQ(page.next, 0);
    EXPECT_EQ(page.newest, 0);
    EXPECT_FALSE(page.gap);
}

TEST_P(EventPages, AFullPageEndsAtItsLastEvent) {
    write(5, EventType::notice);

    const auto page = read({.after = 1, .limit = 3});

    EXPECT_EQ(page.events.size(), 3U);
    EXPECT_EQ(page.next, 4);
    EXPECT_EQ(page.newest, 5);
}

TEST_P(EventPages, WhatDoesNotMatchIsPassedOver) {
    write(1, EventType::session_start, "a");
    write(5, EventType::notice);

    EXPECT_EQ(read({.limit = 3, .types = {EventType::process_exit}}).next, 6);
    const auto of_session = read({.limit = 3, .session_id = SessionId("a")});
    EXPECT_EQ(of_session.events.size(), 1U);
    EXPECT_EQ(of_session.next, 6);
}

TEST_P(EventPages, PastTheEndTheCursorStaysWhereItIs) {
    write(2, EventType::notice);

    EXPECT_EQ(read({.after = 2, .limit = 3}).next, 2);
    EXPECT_EQ(read({.after = INT64_MAX, .limit = 3, .types = {EventType::notice}}).next, INT64_MAX);
}

TEST_P(EventPages, ARareTypeIsLookedForInBoundedSteps) {
    write(limits::events_scan_max, EventType::notice);
    write(1, EventType::process_exit);

    const EventQuery rare{.limit = 1, .types = {EventType::process_exit}};
    const auto first = read(rare);
    EXPECT_TRUE(first.events.empty());
    EXPECT_EQ(first.next, scan_max);
    EXPECT_EQ(first.newest, scan_max + 1);

    auto further = rare;
    further.after = first.next;
    const auto second = read(further);
    ASSERT_EQ(second.events.size(), 1U);
    EXPECT_EQ(second.next, scan_max + 1);
}

}  // namespace
}  // namespace knell::testing
