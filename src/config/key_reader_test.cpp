#include "config/key_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/binding.hpp"
#include "config/keys.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class Reading : public ::testing::Test {
  protected:
    /// "path=value" of each setting; what was wrong is in complaints().
    std::vector<std::string> read(std::string_view text, std::string_view section) {
        map_ = parse_yaml(text, "/k/config.yaml").value();
        values_ = read_keys(config_keys, map_, section, section,
                            {.config_file = "/k/config.yaml", .home = "/home/ann"}, problems_);
        std::vector<std::string> lines;
        for (const auto& setting : values_.settings) {
            lines.push_back(setting.path + "=" + shown_value(*setting.key, setting.value));
        }
        return lines;
    }
    std::vector<std::string> complaints() {
        std::vector<std::string> texts;
        for (auto& problem : problems_.take()) {
            problem.file.clear();
            problem.place = {};
            texts.push_back(to_text(problem).substr(2));
        }
        return texts;
    }

    YamlNode map_;
    KeyValues values_;
    FileProblems problems_{"/k/config.yaml"};
};

TEST_F(Reading, GivesTheDefaultWhereNothingIsWritten) {
    EXPECT_THAT(read("events:\n", ""),
                IsSupersetOf({"events.keep_days=30", "events.keep_count=10000000"}));
    EXPECT_THAT(complaints(), IsEmpty());
    EXPECT_EQ(values_.find_items("webhooks"), nullptr);
}

TEST_F(Reading, GivesTheDefaultWhereSomethingIsWrong) {
    EXPECT_THAT(read("events: {keep_days: [], keep_count: 5}\n", ""),
                IsSupersetOf({"events.keep_days=30", "events.keep_count=5"}));
    EXPECT_EQ(complaints().size(), 1U);
}

TEST_F(Reading, GivesListsOfMapsAsTheyStand) {
    read("webhooks: [{}, {}]\n", "");

    const auto* items = values_.find_items("webhooks");

    ASSERT_NE(items, nullptr);
    EXPECT_EQ(items->nodes->size(), 2U);
    EXPECT_EQ(items->place, (TextPlace{1, 1}));
}

TEST_F(Reading, FollowsPaths) {
    constexpr auto section = "webhooks[].secrets[].";
    EXPECT_THAT(read("file: a/../b\n", section), ElementsAre("webhooks[].secrets[].file=/k/b"));
    EXPECT_THAT(read("file: ~/b\n", section), ElementsAre("webhooks[].secrets[].file=/home/ann/b"));
    EXPECT_THAT(read("file: /b\n", section), ElementsAre("webhooks[].secrets[].file=/b"));
}

TEST_F(Reading, RefusesWhatIsMissingEmptyTooLongOrElsewhere) {
    read("url: ''\nsecret: x\nsecret_file: " + std::string(5000, 'a') + "\nevents: []\n",
         "webhooks[].");

    EXPECT_THAT(
        complaints(),
        ElementsAre("webhooks[].name: is missing; write it, as in `name: ops`",
                    ::testing::StartsWith("webhooks[].url: must begin with https://"),
                    ::testing::StartsWith("webhooks[].secret: does not belong into this file"),
                    "webhooks[].secret_file: must be at most 4096 characters long; shorten it",
                    "webhooks[].events: names none; list some, or leave the key out for \"*\""));
}

TEST_F(Reading, OfWhatIsNoMapFindsNothing) {
    EXPECT_THAT(read("- a\n", ""), IsEmpty());
    EXPECT_THAT(complaints(), ElementsAre("must be keys with values; write them as `key: value`"));
}

struct Inner {
    std::chrono::hours kept{};
    std::int64_t count = 0;
};
struct Outer {
    Inner inner;
};

TEST_F(Reading, ABindingReachesIntoMembers) {
    constexpr std::array bindings{
        bind<&Outer::inner, &Inner::kept>("events.keep_days"),
        bind<&Outer::inner, &Inner::count>("events.keep_count"),
    };
    static_assert(binds_all_of(bindings, config_keys, "events."));
    static_assert(!binds_all_of(bindings, config_keys, "webhooks[]."));
    static_assert(!binds_all_of(std::array{bindings[0]}, config_keys, "events."), "one is missing");
    static_assert(!binds_all_of(std::array{bindings[0], bindings[0]}, config_keys, "events."),
                  "one stands twice");
    static_assert(!binds_all_of(std::array{bind<&Outer::inner, &Inner::count>("events.keep_days"),
                                           bindings[1]},
                                config_keys, "events."),
                  "a duration is no number");
    read("{keep_days: 2, keep_count: 5}\n", "events.");

    Outer outer;
    apply(bindings, values_, outer);

    EXPECT_EQ(outer.inner.kept, std::chrono::hours{48});
    EXPECT_EQ(outer.inner.count, 5);
}

}  // namespace
}  // namespace knell
