// The same random history in every store: whatever can be asked, all give the same answer.

#include "random_history.hpp"
#include "readable.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

constexpr int batches = 40;

class StoreHistories : public ::testing::TestWithParam<std::uint32_t> {
  protected:
    Store& memory() { return memory_->store(); }
    Store& sqlite() { return sqlite_->store(); }

    template <typename Call>
    void on_both(Call&& call) {
        const auto one = call(memory());
        const auto other = call(sqlite());
        ASSERT_TRUE(one) << one.error().message;
        ASSERT_TRUE(other) << other.error().message;
    }
    void expect_same_answers(RandomHistory& history);

    std::unique_ptr<StoreUnderTest> memory_ = store_kinds().at(0).make();
    std::unique_ptr<StoreUnderTest> sqlite_ = store_kinds().at(1).make();
};
INSTANTIATE_TEST_SUITE_P(Seeds, StoreHistories, ::testing::Range(1U, 13U));

void StoreHistories::expect_same_answers(RandomHistory& history) {
    const auto one = memory().open_reader();
    const auto other = sqlite().open_reader();
    ASSERT_TRUE(one && other);
    for (int question = 0; question < 8; ++question) {
        SCOPED_TRACE(question);
        const auto which = history.session_query();
        const auto sessions = (*one)->list(which);
        const auto same_sessions = (*other)->list(which);
        ASSERT_TRUE(sessions && same_sessions);
        EXPECT_EQ(sessions->sessions, same_sessions->sessions);
        EXPECT_EQ(sessions->next, same_sessions->next);

        const auto lately = history.ended_query();
        const auto ended = (*one)->latest_ended(lately);
        const auto same_ended = (*other)->latest_ended(lately);
        ASSERT_TRUE(ended && same_ended);
        EXPECT_EQ(ended->sessions, same_ended->sessions);
        EXPECT_EQ(ended->next, same_ended->next);

        const auto name = history.some_id();
        EXPECT_EQ((*one)->find_beginning(name, 3).value(),
                  (*other)->find_beginning(name, 3).value());
        const auto beside = (*one)->neighbours(name).value();
        const auto same_beside = (*other)->neighbours(name).value();
        EXPECT_EQ(beside.before, same_beside.before);
        EXPECT_EQ(beside.after, same_beside.after);

        const auto what = history.event_query();
        const auto events = (*one)->events(what);
        const auto same_events = (*other)->events(what);
        ASSERT_TRUE(events && same_events);
        EXPECT_EQ(events->events, same_events->events);
        EXPECT_EQ(events->next, same_events->next);
        EXPECT_EQ(events->newest, same_events->newest);
        EXPECT_EQ(events->gap, same_events->gap);

        const auto said = history.message_query();
        const auto messages = (*one)->messages(said);
        const auto same_messages = (*other)->messages(said);
        ASSERT_TRUE(messages && same_messages);
        EXPECT_EQ(messages->messages, same_messages->messages);
        EXPECT_EQ(messages->next, same_messages->next);

        const auto running = history.process_query();
        const auto processes = (*one)->processes(running);
        const auto same_processes = (*other)->processes(running);
        ASSERT_TRUE(processes && same_processes);
        EXPECT_EQ(processes->processes, same_processes->processes);
        EXPECT_EQ(processes->next, same_processes->next);

        const auto owed = history.letter_query();
        EXPECT_EQ((*one)->letters(owed).value(), (*other)->letters(owed).value());
        const auto since = from_millis(1'800'000'000'000 + history.below(20'000'000));
        EXPECT_EQ((*one)->ends_since(since).value(), (*other)->ends_since(since).value());
    }
}

TEST_P(StoreHistories, ReadTheSameInEveryStore) {
    RandomHistory history(GetParam());
    for (int number = 0; number < batches && !HasFailure(); ++number) {
        SCOPED_TRACE("batch " + std::to_string(number));
        const auto batch = history.next();
        on_both([&](Store& store) { return store.commit(batch); });
        if (history.one_in(4)) {
            const auto last = history.somewhere_in_the_log();
            const auto rows_max = static_cast<std::size_t>(history.below(30));
            EXPECT_EQ(memory().trim_events(last, rows_max).value(),
                      sqlite().trim_events(last, rows_max).value());
        }
        if (history.one_in(4)) {
            const auto age = history.next_age();
            on_both([&](Store& store) {
                return store.save_log_age(age.age, age.mark, age.forget_until);
            });
        }
        if (history.one_in(5)) sqlite_->reopen();
        if (history.one_in(10)) {
            const auto impossible = history.impossible();
            const auto before = read_all(memory());
            EXPECT_FALSE(memory().commit(impossible));
            EXPECT_FALSE(sqlite().commit(impossible));
            EXPECT_EQ(difference(before, read_all(memory())), "");
        }
        EXPECT_EQ(difference(read_all(memory()), read_all(sqlite())), "");
        if (const auto heads = memory().heads(); heads && heads->ordinal > 0) {
            expect_same_answers(history);
        }
    }
}

}  // namespace
}  // namespace knell::testing
