#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell {

/// A word of a text as it is compared: without case and accents.
struct Word {
    std::string_view folded;  // valid until the next one is taken
    std::size_t begin = 0;    // where it stands in the text, in bytes
    std::size_t end = 0;
};

/// Takes a text apart into the words that can be searched for: letters and digits that stand
/// together, and each character by itself of a script that is written without blanks between
/// words.  The search index, what is not in it yet and the words of a query all go through here: a
/// message is found by its words or not at all.  Pure.
///
/// A text that was folded before gives the same words.  Bytes that are not UTF-8 separate words.
class WordReader {
  public:
    explicit WordReader(std::string_view text) : text_(text) {}

    /// False: there are no more.
    bool next(Word& word);

    /// Of a word that is longer, only its beginning is compared.
    static constexpr std::size_t folded_bytes_max = 128;

  private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::string folded_;
};

/// One character at the beginning of a text.
struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 0;  // 0: it does not begin with one
};
CodePoint first_code_point(std::string_view text);

}  // namespace knell
