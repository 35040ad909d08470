// docs/config.md has a table of keys for each list of maps and one for all other keys.  They are
// made here; UPDATE_DOCS=1 in the environment writes them.

#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "testing/doc_page.hpp"
#include "testing/key_rows.hpp"

namespace knell {
namespace {

/// "<!-- keys -->", or "<!-- keys webhooks[] -->" for the keys of a list.
std::optional<std::string> table_for(std::string_view marker) {
    constexpr std::string_view start = "<!-- keys";
    constexpr std::string_view end = " -->";
    if (!marker.starts_with(start) || !marker.ends_with(end)) return std::nullopt;
    auto list = marker.substr(start.size());
    list.remove_suffix(end.size());
    if (list.starts_with(' ')) list.remove_prefix(1);
    return knell::testing::key_doc_table(config_keys, list);
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
