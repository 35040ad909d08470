#include "reset/reset_policies.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

constexpr ResetSubject subject{
    .source = "gateway", .platform = "telegram", .chat_type = "dm", .key = "telegram:42"};

constexpr unsigned source = 1;
constexpr unsigned platform = 2;
constexpr unsigned chat_type = 4;
constexpr unsigned key = 8;
constexpr unsigned all = 15;

/// Names those fields as the subject has them, or as it does not.
ResetSelector naming(unsigned fields, bool matching = true) {
    const auto value = [&](unsigned field, std::string_view of_subject) {
        if ((fields & field) == 0) return std::string();
        return matching ? std::string(of_subject) : std::string("other");
    };
    return {.source = value(source, subject.source),
            .platform = value(platform, subject.platform),
            .chat_type = value(chat_type, subject.chat_type),
            .key = value(key, subject.key)};
}

ResetOverride override_for(ResetSelector selector) {
    auto name = to_text(selector);
    return {.selector = std::move(selector),
            .policy = {.mode = ResetMode::idle, .name = std::move(name)}};
}

const ResetPolicy base{.name = "session_reset"};

TEST(ResetPolicies, WithoutAnyResetNothing) {
    const ResetPolicies none;

    EXPECT_EQ(none.of(subject), ResetPolicy{});
    EXPECT_EQ(none.of({}), ResetPolicy{});
    EXPECT_FALSE(none.resets_any());
    EXPECT_EQ(none.override_count(), 0U);
}

TEST(ResetPolicies, TellWhetherAnyResets) {
    EXPECT_TRUE(ResetPolicies({.mode = ResetMode::daily}, {}).resets_any());
    EXPECT_TRUE(ResetPolicies(base, {override_for(naming(source))}).resets_any());
    EXPECT_FALSE(ResetPolicies(base, {{naming(source), {}}}).resets_any());
}

TEST(ResetPolicies, ASelectorIsSaidByItsFields) {
    EXPECT_EQ(to_text(ResetSelector{}), "");
    EXPECT_EQ(to_text(naming(platform | chat_type)), "platform telegram, chat_type dm");
    EXPECT_EQ(to_text(naming(all)),
              "source gateway, platform telegram, chat_type dm, key telegram:42");
}

/// Every pair of combinations, in either order of the file: a key beats a chat type beats a
/// platform beats a source, and so does one that names more.
TEST(ResetPolicies, TheMostSpecificWins) {
    for (unsigned one = 1; one <= all; ++one) {
        for (unsigned other = 1; other <= all; ++other) {
            if (one == other) continue;
            const ResetPolicies policies(base,
                                         {override_for(naming(one)), override_for(naming(other))});
            EXPECT_EQ(policies.of(subject).name, to_text(naming(std::max(one, other))))
                << one << " and " << other;
        }
    }
}

/// What a session lacks it is not matched by, and the rest decides as if that were not there.
TEST(ResetPolicies, AllNamedFieldsMustMatch) {
    for (unsigned given = 0; given <= all; ++given) {
        std::vector<ResetOverride> overrides;
        for (unsigned fields = 1; fields <= all; ++fields) {
            if (fields == given) continue;
            overrides.push_back(override_for(naming(fields)));
            overrides.push_back(override_for(naming(fields, /*matching=*/false)));
        }
        const ResetPolicies policies(base, overrides);
        const auto held = naming(given);
        // The largest sum of fields that it has, but for that of all of them, which none names.
        unsigned best = 0;
        for (unsigned fields = 1; fields < given; ++fields) {
            if ((fields & given) == fields) best = fields;
        }
        EXPECT_EQ(policies.of(held.view()).name, best == 0 ? base.name : to_text(naming(best)))
            << given;
    }
}

TEST(ResetPolicies, ALackIsNotLookedForAtTheRankOfWhatIsLacking) {
    const ResetPolicies policies(
        base, {override_for(naming(key | source)), override_for(naming(chat_type)),
               override_for(naming(source))});

    EXPECT_EQ(policies.of(naming(source | chat_type).view()).name, to_text(naming(chat_type)));
}

TEST(ResetPolicies, AWordInAnotherFieldIsAnother) {
    const ResetPolicies policies(
        base, {override_for({.source = "same"}), override_for({.platform = "same"})});

    EXPECT_EQ(policies.of({.source = "same"}).name, "source same");
    EXPECT_EQ(policies.of({.platform = "same"}).name, "platform same");
    EXPECT_EQ(policies.of({.chat_type = "same"}).name, "session_reset");
    EXPECT_EQ(policies.of({.source = "sam"}).name, "session_reset");
}

TEST(ResetPolicies, FindOneOfManyKeys) {
    std::vector<ResetOverride> overrides;
    for (int i = 0; i < 10'000; ++i) {
        overrides.push_back(override_for({.key = fmt::format("chat:{}", i)}));
    }
    const ResetPolicies policies(base, overrides);

    EXPECT_EQ(policies.override_count(), 10'000U);
    EXPECT_EQ(policies.of({.key = "chat:7331"}).name, "key chat:7331");
    EXPECT_EQ(policies.of({.key = "chat:10000"}).name, "session_reset");
}

TEST(ResetPolicies, AreEqualByWhatTheySay) {
    const ResetPolicies one(base, {override_for(naming(key)), override_for(naming(source))});
    const ResetPolicies same(base, {override_for(naming(source)), override_for(naming(key))});
    const ResetPolicies fewer(base, {override_for(naming(key))});
    const ResetPolicies another({.mode = ResetMode::idle},
                                {override_for(naming(key)), override_for(naming(source))});

    EXPECT_EQ(one, same);
    EXPECT_NE(one, fewer);
    EXPECT_NE(one, another);
    const auto copy = one;
    EXPECT_EQ(copy.of(subject).name, one.of(subject).name);
}

TEST(ResetPoliciesDeathTest, ATwinOrAnEmptySelectorIsABrokenPromise) {
    EXPECT_DEATH(ResetPolicies(base, {override_for({})}), "combination != 0");
    EXPECT_DEATH(ResetPolicies(base, {override_for(naming(key)), override_for(naming(key))}),
                 "is_new");
}

}  // namespace
}  // namespace knell
