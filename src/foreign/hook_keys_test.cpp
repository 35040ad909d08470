#include "foreign/hook_keys.hpp"

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "foreign/hook_file.hpp"
#include "testing/doc_page.hpp"
#include "testing/key_rows.hpp"
#include "testing/schema_agreement.hpp"
#include "testing/schema_check.hpp"

namespace knell::foreign {
namespace {

TEST(HookKeys, KeepTheRulesOfRows) {
    knell::testing::check_key_rows(hook_keys);
}

/// The schema and the reader are two opinions on one text.
TEST(HookKeys, AsASchemaAgreeWithTheReader) {
    for (const auto* text :
         {"events: session:*\n", "events: [session:end]\nauthor: somebody\n",
          "name:\ndescription: |\n  a\n  b\nevents: [notice]\ncommand: run 'a b'\n",
          "name: a\nevents: [notice]\ncommand: [run, a b]\ntimeout: 2m\nconcurrency: 16\n"}) {
        EXPECT_TRUE(knell::testing::schema_accepts(hook_keys, text)) << text;
        EXPECT_TRUE(parse_hook_file(text, "HOOK.yaml")) << text;
    }
    for (const auto* text :
         {"", "name: a\n", "events:\n", "events: []\n", "events: {a: b}\n",
          "events: [notice]\nname: a b\n", "events: [notice]\ncommand: []\n",
          "events: [notice]\ntimeout: 601\n", "events: [notice]\nconcurrency: 17\n"}) {
        EXPECT_FALSE(knell::testing::schema_accepts(hook_keys, text)) << text;
        EXPECT_FALSE(parse_hook_file(text, "HOOK.yaml")) << text;
    }
}

constexpr std::array<std::string_view, 1> known_better{"command"};  // whether a quote is closed

const knell::testing::Reading hook_reading{
    .file_with =
        [](const Key& key, std::string_view value) {
            const auto* before = key.path == "events" ? "" : "events: notice, ";
            return fmt::format("{{{}{}: {}}}", before, key.path, value);
        },
    .is_accepted = [](const std::string& file) { return parse_hook_file(file, "f").has_value(); },
    .known_better = known_better};

TEST(HookKeys, AsASchemaAcceptWhatTheReaderAccepts) {
    knell::testing::expect_agreement(hook_keys, hook_reading);
}

RC_GTEST_PROP(HookKeys, AsASchemaAcceptAnyNameThatTheReaderAccepts, ()) {
    const auto name =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("aZ09._-/: ~+$")));
    knell::testing::expect_agreement_on(hook_keys, hook_reading, *hook_keys.find("name"),
                                        fmt::format("'{}'", name));
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
