// docs/config.md has a table of keys for each list of maps and one for all other keys.  They are
// made here; UPDATE_DOCS=1 in the environment writes them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "testing/doc_page.hpp"

namespace knell {
namespace {

std::string standard_of(const Key& key) {
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
    return key.fallback.empty() ? "none" : fmt::format("`{}`", key.fallback);
}

/// Of the keys that begin with `list`, or of those that are in no list.
std::string table_of(std::string_view list) {
    std::string text = "| key | is | takes | default |\n|---|---|---|---|\n";
    for (const auto& key : config_keys.keys) {
        if (list.empty() ? key.path.contains("[]") : !key.path.starts_with(list)) continue;
        const auto name = list.empty() ? key.path : key.path.substr(list.size() + 1);
        text += fmt::format("| `{}` | {} | {} | {} |\n", name, key.about, describe_values(key),
                            standard_of(key));
    }
    return text;
}

/// "<!-- keys -->", or "<!-- keys webhooks[] -->" for the keys of a list.
std::optional<std::string> table_for(std::string_view marker) {
    constexpr std::string_view start = "<!-- keys";
    constexpr std::string_view end = " -->";
    if (!marker.starts_with(start) || !marker.ends_with(end)) return std::nullopt;
    auto list = marker.substr(start.size());
    list.remove_suffix(end.size());
    if (list.starts_with(' ')) list.remove_prefix(1);
    return table_of(list);
}

TEST(ConfigDoc, TellsOfEveryKeyWhatTheTableSays) {
    const auto tables = knell::testing::check_doc_page(KNELL_DOCS_DIR "/config.md", table_for);

    std::size_t lists = 1;  // the keys in no list
    for (const auto& key : config_keys.keys) {
        if (key.type == KeyType::items && !key.path.contains("[]")) ++lists;
    }
    EXPECT_EQ(tables.size(), lists) << "each list of maps has a table";
}

}  // namespace
}  // namespace knell
