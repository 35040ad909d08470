#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// Words that must follow each other; of the last perhaps only the beginning.
struct SearchPhrase {
    std::vector<std::string> words;  // folded, as WordReader gives them; one at least
    bool is_prefix = false;

    bool operator==(const SearchPhrase&) const = default;
};

/// What a message must hold to be found: every one of these.
struct SearchTerms {
    std::vector<SearchPhrase> phrases;
};

/// Reads what a person typed.  Words may stand anywhere in a message, those in "quotes" follow each
/// other, and one that ends in * is the beginning of a word.  What is joined by other characters,
/// such as a path or an address, is a phrase.  Nothing else has a meaning, so nothing is malformed;
/// an error says that there is nothing to look for, or too much, to stand behind "query: ".
std::expected<SearchTerms, std::string> parse_search_terms(std::string_view text);

/// Bytes of a text.
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;

    bool operator==(const TextSpan&) const = default;
};

/// Where the phrases stand in a text that holds all of them.
struct SearchMatch {
    std::vector<TextSpan> spans;  // rising by their beginnings; only the first ones of very many
    std::int64_t score = 0;
};
std::optional<SearchMatch> match(const SearchTerms& terms, std::string_view text);

/// How well a text fits that holds each phrase so many times among so many words: more often is
/// better, by less each time, and so is a shorter text.  Of the text alone, so that what is in the
/// index and what is not yet have one order.
class SearchScore {
  public:
    explicit SearchScore(std::int64_t words) : words_(words) {}
    void add_phrase(std::int64_t times);
    std::int64_t value() const { return value_; }

  private:
    std::int64_t words_;
    std::int64_t value_ = 0;
};

}  // namespace knell
