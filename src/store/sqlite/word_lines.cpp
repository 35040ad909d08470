#include "store/sqlite/word_lines.hpp"

namespace knell::sqlite {

void add_line(std::string& lines, std::string_view word) {
    for (const char c : word) {
        switch (c) {
            case '\n':
                lines += "\\n";
                break;
            case '\0':
                lines += "\\0";
                break;
            case '\\':
                lines += "\\\\";
                break;
            default:
                lines += c;
        }
    }
    lines += '\n';
}

std::string to_lines(const std::vector<std::string>& words) {
    std::string lines;
    for (const auto& word : words) add_line(lines, word);
    return lines;
}

std::vector<std::string> words_from_lines(std::string_view lines) {
    std::vector<std::string> words;
    std::string word;
    bool is_escaped = false;
    for (const char c : lines) {
        if (is_escaped) {
            is_escaped = false;
            word += c == 'n' ? '\n' : c == '0' ? '\0' : c;
        } else if (c == '\\') {
            is_escaped = true;
        } else if (c == '\n') {
            words.push_back(std::move(word));
            word.clear();
        } else {
            word += c;
        }
    }
    // Only another program leaves the last line open.
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

}  // namespace knell::sqlite
