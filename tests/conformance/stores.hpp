#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "testing/commands.hpp"
#include "testing/faulty_disk.hpp"
#include "testing/record_check.hpp"

namespace knell::testing {

/// One kind of store under test.  `reopen` closes it and opens it again, as a restart would.
class StoreUnderTest {
  public:
    virtual ~StoreUnderTest() = default;
    virtual Store& store() = 0;
    virtual void close() = 0;
    virtual void reopen() = 0;
};

using StoreMaker = std::function<std::unique_ptr<StoreUnderTest>()>;
struct StoreKind {
    std::string name;
    StoreMaker make;
};
/// Every store there is: the same stories run on each.
const std::vector<StoreKind>& store_kinds();
/// The same on a real disk: for tests with threads or processes of their own, which a FaultyDisk
/// does not allow.
const std::vector<StoreKind>& store_kinds_on_disk();

/// A journal on a store, as the daemon has it.
class JournalOnStore {
  public:
    explicit JournalOnStore(Store& store, Now now = at(0), std::string boot_id = "")
        : journal(state, store) {
        const auto recovered = journal.recover(now, std::move(boot_id));
        EXPECT_TRUE(recovered) << recovered.error().message;
    }

    /// A group of commands and whatever falls due, to its end.
    Journal::Step step(std::vector<Input> inputs, Now now) {
        auto whole = journal.commit(std::move(inputs), now);
        while (!whole.failed && journal.has_work_left()) {
            auto more = journal.commit({}, now);
            std::ranges::move(more.effects, std::back_inserter(whole.effects));
            std::ranges::move(more.events, std::back_inserter(whole.events));
            whole.failed = more.failed;
        }
        return whole;
    }
    /// One group of commands, one transaction.
    std::vector<Result<Reply>> group(std::vector<Input> inputs, Now now = at(0)) {
        return step(std::move(inputs), now).replies;
    }
    /// Time passes: what falls due by `now`, and nothing else.
    Journal::Step tick(Now now) { return step({}, now); }
    Result<Reply> one(Input input, Now now = at(0)) {
        std::vector<Input> inputs;
        inputs.push_back(std::move(input));
        return std::move(group(std::move(inputs), now).front());
    }

    State state;
    Journal journal;
};

class StoreStory : public ::testing::TestWithParam<StoreKind> {
  protected:
    StoreStory() : under_test_(GetParam().make()) { restart(); }

    void restart(Now now = at(0), std::string boot_id = "") {
        reader_.reset();
        journal_.reset();
        if (started_) under_test_->reopen();
        started_ = true;
        journal_ = std::make_unique<JournalOnStore>(under_test_->store(), now, std::move(boot_id));
        auto reader = under_test_->store().open_reader();
        ASSERT_TRUE(reader) << reader.error().message;
        reader_ = std::move(*reader);
    }

    JournalOnStore& journal() { return *journal_; }
    Reader& reader() { return *reader_; }
    Store& store() { return under_test_->store(); }
    Session shown(const std::string& id) {
        const auto found = reader().find(SessionId(id));
        EXPECT_TRUE(found && *found) << id << " is not on record";
        return found && *found ? **found : Session{};
    }
    std::vector<std::string> listed(SessionQuery query);
    std::vector<Event> told(EventType type);

    void TearDown() override { EXPECT_EQ(broken_promises(reader()), std::vector<std::string>{}); }

  private:
    std::unique_ptr<StoreUnderTest> under_test_;
    bool started_ = false;
    std::unique_ptr<JournalOnStore> journal_;
    std::unique_ptr<Reader> reader_;
};

}  // namespace knell::testing
