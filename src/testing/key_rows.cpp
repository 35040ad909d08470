#include "testing/key_rows.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/setting.hpp"

namespace knell::testing {

namespace {

void check_default(const Key& key) {
    const auto value = default_value(key);
    if (!value) return;
    if (const auto* number = std::get_if<std::int64_t>(&*value)) {
        EXPECT_GE(*number, key.min) << key.path;
        EXPECT_LE(*number, key.max) << key.path;
    } else if (const auto* duration = std::get_if<std::chrono::seconds>(&*value)) {
        EXPECT_GE(duration->count(), key.min) << key.path;
        EXPECT_LE(duration->count(), key.max) << key.path;
    }
}

/// What of a key stands in the last column: its default, or why it has none.
std::string default_column(const Key& key) {
    switch (key.presence) {
        case Presence::required:
            return "required";
        case Presence::one_of:
            return fmt::format("one of these; `{}: {}`", key.name(), key.example);
        case Presence::exactly_one:
            return "one of the two";
        case Presence::optional:
            break;
    }
    if (!key.fallback.empty()) return fmt::format("`{}`", key.fallback);
    return std::string(key.if_missing.empty() ? "none" : key.if_missing);
}

}  // namespace

void check_key_rows(const KeyTable& table) {
    std::set<std::string_view> paths;
    for (const auto& key : table.refused) EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    for (const auto& key : table.keys) {
        EXPECT_TRUE(paths.insert(key.path).second) << key.path;
        EXPECT_FALSE(key.about.empty()) << key.path;
        EXPECT_FALSE(key.about.ends_with('.')) << key.path;
        EXPECT_FALSE(key.about.contains('\n')) << key.path;
        check_default(key);
        if (key.type == KeyType::items) continue;
        const bool is_optional = key.presence == Presence::optional;
        EXPECT_EQ(is_optional, !key.fallback.empty() || !key.if_missing.empty()) << key.path;
        EXPECT_TRUE(key.fallback.empty() || key.if_missing.empty()) << key.path;
        // What is written where there is a choice; a default is its own example.
        if (!is_optional) {
            EXPECT_FALSE(key.example.empty()) << key.path;
        }
        if (!key.fallback.empty()) {
            EXPECT_TRUE(key.example.empty()) << key.path;
        }
    }
}

std::string key_doc_table(const KeyTable& table, std::string_view list) {
    std::string text = "| key | is | takes | default |\n|---|---|---|---|\n";
    for (const auto& key : table.keys) {
        if (list.empty() ? key.path.contains("[]") : !key.path.starts_with(list)) continue;
        const auto name = list.empty() ? key.path : key.path.substr(list.size() + 1);
        text += fmt::format("| `{}` | {} | {} | {} |\n", name, key.about, describe_values(key),
                            default_column(key));
    }
    return text;
}

}  // namespace knell::testing
