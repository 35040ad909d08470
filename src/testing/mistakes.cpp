#include "testing/mistakes.hpp"

#include <fstream>
#include <string_view>

#include <gtest/gtest.h>

#include "platform/environment.hpp"

namespace knell::testing {

namespace {

constexpr std::string_view begin_name = "=== ";
constexpr std::string_view begin_said = "--- says";

/// What stands before the first one says what the table is.
struct Table {
    std::string head;
    std::vector<Mistake> mistakes;
};

Table read_table(const std::string& file) {
    std::ifstream stream(file);
    EXPECT_TRUE(stream) << file;
    Table table;
    bool is_said = false;
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(begin_name)) {
            table.mistakes.push_back({line.substr(begin_name.size()), {}, {}});
            is_said = false;
        } else if (table.mistakes.empty()) {
            table.head += line + "\n";
        } else if (line == begin_said) {
            is_said = true;
        } else if (!is_said) {
            table.mistakes.back().text += line + "\n";
        } else if (!line.empty()) {
            table.mistakes.back().said += line + "\n";
        }
    }
    return table;
}

void write_table(const std::string& file, const Table& table) {
    std::ofstream stream(file);
    stream << table.head;
    for (const auto& [name, text, said] : table.mistakes) {
        stream << begin_name << name << "\n" << text << begin_said << "\n" << said << "\n";
    }
}

}  // namespace

std::vector<Mistake> check_mistakes(const std::string& file,
                                    const std::function<std::string(const Mistake&)>& say) {
    auto table = read_table(file);
    const bool is_update = !environment_variable("UPDATE_GOLDEN").empty();
    for (auto& mistake : table.mistakes) {
        const auto said = say(mistake);
        if (!is_update) EXPECT_EQ(said, mistake.said) << mistake.name << " in " << file;
        mistake.said = said;
    }
    if (is_update) write_table(file, table);
    return table.mistakes;
}

}  // namespace knell::testing
