#include "core/search_terms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/read_limits.hpp"
#include "core/words.hpp"

namespace knell {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Takes the next piece off the text: a word up to a blank, or what stands in quotes.
struct Piece {
    std::string_view text;
    bool is_prefix = false;
};
Piece take_piece(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    Piece piece;
    if (text.starts_with('"')) {
        text.remove_prefix(1);
        piece.text = text.substr(0, text.find('"'));
        text.remove_prefix(std::min(piece.text.size() + 1, text.size()));
        if (text.starts_with('*')) {
            piece.is_prefix = true;
            text.remove_prefix(1);
        }
        return piece;
    }
    piece.text = text.substr(0, text.find_first_of(" \t\r\n\""));
    text.remove_prefix(piece.text.size());
    piece.is_prefix = piece.text.ends_with('*');
    return piece;
}

using Refused = std::unexpected<std::string>;

/// Words of a text, with their places in it.
struct PlacedWord {
    std::size_t folded_at = 0;
    std::size_t folded_bytes = 0;
    TextSpan span;
};
struct PlacedWords {
    std::string folded;
    std::vector<PlacedWord> words;

    explicit PlacedWords(std::string_view text) {
        folded.reserve(text.size());
        WordReader reader(text);
        for (Word word; reader.next(word);) {
            words.push_back({folded.size(), word.folded.size(), {word.begin, word.end}});
            folded += word.folded;
        }
    }
    std::string_view at(std::size_t place) const {
        return std::string_view(folded).substr(words[place].folded_at, words[place].folded_bytes);
    }
    bool stands_at(const SearchPhrase& phrase, std::size_t place) const {
        const auto count = phrase.words.size();
        if (place + count > words.size()) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const auto word = at(place + i);
            const bool may_go_on = phrase.is_prefix && i + 1 == count;
            if (may_go_on ? !word.starts_with(phrase.words[i]) : word != phrase.words[i]) {
                return false;
            }
        }
        return true;
    }
};

}  // namespace

std::expected<SearchTerms, std::string> parse_search_terms(std::string_view text) {
    if (text.size() > limits::search_query_bytes_max) {
        return Refused(fmt::format("may have {} bytes at most", limits::search_query_bytes_max));
    }
    SearchTerms terms;
    std::size_t words = 0;
    while (!text.empty()) {
        const auto piece = take_piece(text);
        SearchPhrase phrase;
        WordReader reader(piece.text);
        for (Word word; reader.next(word);) phrase.words.emplace_back(word.folded);
        if (phrase.words.empty()) continue;
        phrase.is_prefix = piece.is_prefix;
        if (phrase.is_prefix && phrase.words.back().size() < limits::search_prefix_bytes_min) {
            return Refused(
                fmt::format("the beginning of a word needs {} letters at least, such as "
                            "\"de*\"",
                            limits::search_prefix_bytes_min));
        }
        words += phrase.words.size();
        if (words > limits::search_words_max) {
            return Refused(fmt::format("may have {} words at most", limits::search_words_max));
        }
        if (std::ranges::find(terms.phrases, phrase) == terms.phrases.end()) {
            terms.phrases.push_back(std::move(phrase));
        }
    }
    if (terms.phrases.empty()) return Refused("has no word in it; give one at least");
    return terms;
}

std::optional<SearchMatch> match(const SearchTerms& terms, std::string_view text) {
    const PlacedWords placed(text);
    SearchMatch found;
    SearchScore score(static_cast<std::int64_t>(placed.words.size()));
    for (const auto& phrase : terms.phrases) {
        std::int64_t times = 0;
        for (std::size_t place = 0; place < placed.words.size(); ++place) {
            if (!placed.stands_at(phrase, place)) continue;
            if (static_cast<std::size_t>(++times) > limits::search_spans_max) continue;
            const auto last = place + phrase.words.size() - 1;
            found.spans.push_back({placed.words[place].span.begin, placed.words[last].span.end});
        }
        if (times == 0) return std::nullopt;
        score.add_phrase(times);
    }
    std::ranges::sort(found.spans, {}, &TextSpan::begin);
    found.score = score.value();
    return found;
}

void SearchScore::add_phrase(std::int64_t times) {
    // BM25's share of one phrase with k = 1.2 and b = 0.75, for texts of 64 words on average, in
    // millionths; whole numbers, so that every store and machine comes to the same.
    constexpr std::int64_t unit = 1'000'000;
    const auto length = 300'000 + 900'000 * words_ / 64;
    value_ += static_cast<std::int64_t>(static_cast<__int128>(times) * unit * 2'200'000 /
                                        (times * unit + length));
}

}  // namespace knell
