#include "config/split_words.hpp"

namespace knell {

namespace {

/// What follows a backslash: inside double quotes it is one only before these.
bool is_escaped(char next, char quote) {
    return quote == '\0' || std::string_view("\"\\$`").contains(next);
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;  // "" in quotes is a word too
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\\' && quote != '\'') {
            if (i + 1 == line.size()) {
                return fail(ErrorCode::invalid_params, "ends in a backslash; write \\\\ for one");
            }
            if (is_escaped(line[i + 1], quote)) ++i;
            word += line[i];
            in_word = true;
        } else if (quote != '\0' && c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
            in_word = true;
        } else if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
            if (in_word) words.push_back(std::exchange(word, {}));
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote != '\0') {
        return fail(ErrorCode::invalid_params,
                    std::string("has no closing ") + quote + "; write one");
    }
    if (in_word) words.push_back(std::move(word));
    return words;
}

}  // namespace knell
