// docs/config.md has a table of keys for each list of maps and one for all other keys.  They are
// made here; UPDATE_DOCS=1 in the environment writes them.

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "platform/environment.hpp"
#include "platform/small_file.hpp"

namespace knell {
namespace {

constexpr auto page_file = KNELL_DOCS_DIR "/config.md";
constexpr std::string_view table_start = "<!-- keys";
constexpr std::string_view table_end = "<!-- end -->";

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
    for (const auto& key : config_keys) {
        if (list.empty() ? key.path.contains("[]") : !key.path.starts_with(list)) continue;
        const auto name = list.empty() ? key.path : key.path.substr(list.size() + 1);
        text += fmt::format("| `{}` | {} | {} | {} |\n", name, key.about, describe_values(key),
                            standard_of(key));
    }
    return text;
}

/// The page with its tables made anew; `tables` counts them.
std::string made_anew(const std::string& page, int& tables) {
    std::string written;
    std::istringstream lines(page);
    bool in_table = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == table_end) in_table = false;
        if (!in_table) written += line + "\n";
        if (!line.starts_with(table_start)) continue;
        in_table = true;
        ++tables;
        const auto list = line.substr(table_start.size(), line.find(" -->") - table_start.size());
        written += table_of(list.empty() ? list : list.substr(1));
    }
    return written;
}

TEST(ConfigDoc, TellsOfEveryKeyWhatTheTableSays) {
    const auto page = read_small_file(page_file);
    ASSERT_TRUE(page);
    int tables = 0;
    const auto written = made_anew(*page, tables);

    if (!environment_variable("UPDATE_DOCS").empty()) std::ofstream(page_file) << written;
    EXPECT_EQ(written, read_small_file(page_file)) << "UPDATE_DOCS=1 writes the tables";
    int lists = 1;  // the keys in no list
    for (const auto& key : config_keys) {
        if (key.type == KeyType::items && !key.path.contains("[]")) ++lists;
    }
    EXPECT_EQ(tables, lists) << "each list of maps has a table";
}

}  // namespace
}  // namespace knell
