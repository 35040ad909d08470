#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace knell::sqlite {

/// Words in one column, a line each.  Any bytes come back as they were: within a word a line feed
/// is written \n, a NUL \0 and a backslash \\.
std::string to_lines(const std::vector<std::string>& words);
std::vector<std::string> words_from_lines(std::string_view lines);

/// One word and the end of its line.
void add_line(std::string& lines, std::string_view word);

}  // namespace knell::sqlite
