#include "engine/key_index.hpp"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "testing/commands.hpp"

namespace knell {
namespace {

class Sessions {
  public:
    Slot open(Ordinal ordinal, const std::string& key, bool is_key_taken = false) {
        auto session = testing::create(fmt::format("s{}", ordinal)).draft;
        session.ordinal = ordinal;
        session.key = key;
        session.key_taken = is_key_taken;
        const auto slot =
            table_.insert(LiveSession(session, owner_hosts_, texts_, std::chrono::milliseconds{0}));
        index_.insert(table_, slot);
        return slot;
    }
    void end(Slot slot) {
        index_.erase(table_, slot);
        table_.erase(slot);
    }
    Slot find(const std::string& key) const { return index_.find(table_, key); }
    std::size_t keys() const { return index_.size(); }

  private:
    LiveTable table_;
    OwnerHosts owner_hosts_;
    TextPool texts_;
    KeyIndex index_;
};

TEST(KeyIndex, GivesTheNewestOfSeveralAndNeverAnOlderOne) {
    Sessions sessions;
    const auto first = sessions.open(1, "k");
    const auto third = sessions.open(3, "k");
    // As a batch does that is taken back: older than what is there.
    const auto second = sessions.open(2, "k");
    EXPECT_EQ(sessions.find("k"), third);

    sessions.end(first);
    EXPECT_EQ(sessions.find("k"), third);
    sessions.end(third);
    EXPECT_EQ(sessions.find("k"), SlotIndex::none);
    EXPECT_EQ(sessions.keys(), 0U);
    sessions.end(second);
    EXPECT_EQ(sessions.keys(), 0U);
}

TEST(KeyIndex, KnowsNothingOfSessionsWithoutAKey) {
    Sessions sessions;
    const auto slot = sessions.open(1, "");

    EXPECT_EQ(sessions.find(""), SlotIndex::none);
    EXPECT_EQ(sessions.keys(), 0U);
    sessions.end(slot);
}

TEST(KeyIndex, KnowsNothingOfSessionsWhoseKeyANewerOneTook) {
    Sessions sessions;
    const auto newer = sessions.open(2, "k");
    const auto taken = sessions.open(1, "k", /*is_key_taken=*/true);

    sessions.end(newer);
    EXPECT_EQ(sessions.find("k"), SlotIndex::none);
    sessions.end(taken);
    EXPECT_EQ(sessions.keys(), 0U);
}

RC_GTEST_PROP(KeyIndex, FindsTheNewestOfEachKeyAndNothingElse, ()) {
    Sessions sessions;
    std::map<std::string, std::map<Ordinal, Slot>> model;
    std::map<std::string, Slot> has_key;
    Ordinal last = 0;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200));
    for (const auto step : steps) {
        const auto key = fmt::format("key {}", step % 40);
        auto& open = model[key];
        if (step < 120 || open.empty()) {
            ++last;
            has_key[key] = open[last] = sessions.open(last, key);
        } else {
            auto one = std::next(open.begin(), step % static_cast<int>(open.size()));
            sessions.end(one->second);
            const auto had = has_key.find(key);
            if (had != has_key.end() && had->second == one->second) has_key.erase(had);
            open.erase(one);
        }
    }
    for (const auto& [key, open] : model) {
        const auto has = has_key.find(key);
        RC_ASSERT(sessions.find(key) == (has == has_key.end() ? SlotIndex::none : has->second));
    }
    RC_ASSERT(sessions.keys() == has_key.size());
}

}  // namespace
}  // namespace knell
