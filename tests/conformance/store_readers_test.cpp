// Readers on threads of their own beside the one writer: each page is of one moment.

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

constexpr Seq appended_at_once = 20;
constexpr Seq kept = 60;  // about
constexpr int pages_read = 3000;

/// What is wrong with a page of the whole log, read after `after`; "" when nothing is.
std::string torn(const EventPage& page, Seq after) {
    auto expected = after + 1;
    if (page.gap) {
        if (page.gap->from != expected || page.gap->to < expected) {
            return fmt::format("after {}: gap {} to {}", after, page.gap->from, page.gap->to);
        }
        expected = page.gap->to + 1;
    }
    for (const auto& event : page.events) {
        if (event.seq != expected) {
            return fmt::format("after {}: {} stands where {} should", after, event.seq, expected);
        }
        ++expected;
    }
    const auto last = expected - 1;
    if (page.events.empty() && page.newest > after) return fmt::format("nothing after {}", after);
    if (last > page.newest) return fmt::format("{} is newer than the newest", last);
    if (page.next != last && !page.events.empty()) {
        return fmt::format("ends with {}, goes on after {}", last, page.next);
    }
    return {};
}

class StoreReaders : public ::testing::TestWithParam<StoreKind> {
  protected:
    StoreReaders() : under_test_(GetParam().make()) { append(); }

    Store& store() { return under_test_->store(); }

    void append() {
        Batch batch;
        for (Seq i = 0; i < appended_at_once; ++i) {
            Event event;
            event.seq = ++newest_;
            batch.events.push_back(event);
        }
        const auto written = store().commit(batch);
        EXPECT_TRUE(written) << written.error().message;
    }

    std::unique_ptr<StoreUnderTest> under_test_;
    Seq newest_ = 0;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, StoreReaders, ::testing::ValuesIn(store_kinds_on_disk()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(StoreReaders, NoPageIsTornByAWriterThatAppendsAndTrims) {
    auto reader = store().open_reader();
    ASSERT_TRUE(reader) << reader.error().message;
    std::atomic<bool> done = false;
    std::string broken;
    std::thread reading([&] {
        // From the beginning again and again: there the writer trims.
        for (int pages = 0; pages < pages_read && broken.empty(); ++pages) {
            EventQuery query{.after = 0, .limit = 10};
            if (pages % 3 == 0) query.types = {EventType::notice};
            const auto page = (*reader)->events(query);
            broken = page ? torn(*page, query.after) : page.error().message;
        }
        done = true;
    });

    while (!done) {
        append();
        while (store().trim_events(newest_ - kept, /*rows_max=*/7).value_or(0) <= newest_ - kept) {
        }
    }
    reading.join();

    EXPECT_EQ(broken, "");
}

TEST_P(StoreReaders, WhoFollowsMissesNothingThatTheGapsDoNotTell) {
    auto reader = store().open_reader();
    ASSERT_TRUE(reader) << reader.error().message;
    std::atomic<bool> done = false;
    std::string broken;
    Seq after = 0;
    std::thread reading([&] {
        for (int pages = 0; pages < pages_read && broken.empty(); ++pages) {
            const auto page = (*reader)->events({.after = after, .limit = 10});
            broken = page ? torn(*page, after) : page.error().message;
            if (page) after = page->next;
        }
        done = true;
    });

    while (!done) {
        append();
        EXPECT_TRUE(store().trim_events(newest_ - kept, /*rows_max=*/100));
    }
    reading.join();

    EXPECT_EQ(broken, "");
    EXPECT_GT(after, 0);
}

}  // namespace
}  // namespace knell::testing
