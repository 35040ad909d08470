#include "foreign/hook_keys.hpp"

#include <gtest/gtest.h>

#include "testing/doc_page.hpp"
#include "testing/key_rows.hpp"

namespace knell::foreign {
namespace {

TEST(HookKeys, KeepTheRulesOfRows) {
    knell::testing::check_key_rows(hook_keys);
}

/// UPDATE_DOCS=1 in the environment writes the table.
TEST(HookDoc, TellsOfEveryKeyWhatTheTableSays) {
    const auto tables = knell::testing::check_doc_page(
        KNELL_DOCS_DIR "/config.md", [](std::string_view marker) -> std::optional<std::string> {
            if (marker != "<!-- hook keys -->") return std::nullopt;
            return knell::testing::key_doc_table(hook_keys, "");
        });

    EXPECT_EQ(tables.size(), 1U);
}

}  // namespace
}  // namespace knell::foreign
