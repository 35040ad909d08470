#include "testing/doc_page.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "platform/environment.hpp"
#include "platform/small_file.hpp"

namespace knell::testing {

namespace {

constexpr std::string_view table_end = "<!-- end -->";

/// The page with its tables made anew; `markers` gets their first lines.
std::string remade(const std::string& page, const TableFor& table_for,
                   std::set<std::string>& markers) {
    std::string written;
    std::istringstream lines(page);
    bool in_table = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == table_end) in_table = false;
        if (!in_table) written += line + "\n";
        if (const auto table = table_for(line)) {
            in_table = true;
            markers.insert(line);
            written += *table;
        }
    }
    return written;
}

}  // namespace

std::set<std::string> check_doc_page(const std::string& file, const TableFor& table_for) {
    std::set<std::string> markers;
    const auto page = read_small_file(file);
    EXPECT_TRUE(page) << file;
    if (!page) return markers;
    const auto written = remade(*page, table_for, markers);
    if (!environment_variable("UPDATE_DOCS").empty()) std::ofstream(file) << written;
    EXPECT_EQ(written, read_small_file(file)) << "UPDATE_DOCS=1 writes the tables of " << file;
    return markers;
}

}  // namespace knell::testing
