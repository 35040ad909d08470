#include "cli/text_width.hpp"

#include <algorithm>
#include <clocale>
#include <cwchar>

#include "client/harmless_text.hpp"

namespace knell::cli {

namespace {

/// wcwidth and mbrtowc follow the locale of the thread.  Output is UTF-8 whatever LANG says, so
/// they are asked under C.UTF-8, and the thread's own locale is put back.
class Utf8Locale {
  public:
    Utf8Locale() : before_(::uselocale(utf8())) {}
    ~Utf8Locale() { ::uselocale(before_); }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

  private:
    static locale_t utf8() {
        static const auto locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
        return locale;
    }

    locale_t before_;
};

struct Character {
    std::string_view bytes;
    wchar_t value = 0;
    int width = -1;  // -1: not to be shown
};

/// Takes the first character off `text`, which is not empty.
Character take_character(std::string_view& text) {
    Character character;
    std::mbstate_t state{};
    auto length = std::mbrtowc(&character.value, text.data(), text.size(), &state);
    constexpr auto invalid = static_cast<std::size_t>(-1);
    constexpr auto incomplete = static_cast<std::size_t>(-2);
    const bool readable = length != invalid && length != incomplete && length != 0;
    if (!readable) length = 1;
    if (readable && !client::changes_direction(static_cast<char32_t>(character.value))) {
        character.width = ::wcwidth(character.value);
    }
    character.bytes = text.substr(0, length);
    text.remove_prefix(length);
    return character;
}

std::string cleaned(std::string_view text, bool keep_lines) {
    const Utf8Locale locale;
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const auto character = take_character(text);
        if (character.width >= 0) {
            clean += character.bytes;
        } else if (character.bytes == "\n" && keep_lines) {
            clean += '\n';
        } else {
            const bool blank = character.bytes == "\n" || character.bytes == "\t";
            clean += blank ? ' ' : '?';
        }
    }
    return clean;
}

}  // namespace

std::string one_line(std::string_view text) {
    return cleaned(text, /*keep_lines=*/false);
}

std::string many_lines(std::string_view text) {
    return cleaned(text, /*keep_lines=*/true);
}

std::size_t display_width(std::string_view text) {
    const Utf8Locale locale;
    std::size_t width = 0;
    while (!text.empty()) {
        const auto character = take_character(text);
        width += character.width > 0 ? static_cast<std::size_t>(character.width) : 0;
    }
    return width;
}

std::string fit(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    const Utf8Locale locale;
    std::string cut;
    std::size_t used = 0;
    while (!text.empty()) {
        const auto character = take_character(text);
        const auto wide = character.width > 0 ? static_cast<std::size_t>(character.width) : 0;
        if (used + wide + 1 > width) break;
        cut += character.bytes;
        used += wide;
    }
    return cut + "…";
}

std::string fit_end(std::string_view text, std::size_t width) {
    const auto whole = display_width(text);
    if (whole <= width) return std::string(text);
    if (width == 0) return {};
    const Utf8Locale locale;
    for (auto left = whole; !text.empty() && left + 1 > width;) {
        const auto character = take_character(text);
        left -= character.width > 0 ? static_cast<std::size_t>(character.width) : 0;
    }
    return "…" + std::string(text);
}

std::string wrap(std::string_view text, const Wrapping& wrapping) {
    if (wrapping.width == 0) return std::string(text);
    std::string wrapped;
    auto used = wrapping.before;
    bool is_line_empty = true;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (word.empty()) continue;
        const auto wide = display_width(word);
        if (!is_line_empty && used + 1 + wide > wrapping.width) {
            wrapped += '\n';
            wrapped.append(wrapping.indent, ' ');
            used = wrapping.indent;
            is_line_empty = true;
        }
        if (!is_line_empty) {
            wrapped += ' ';
            ++used;
        }
        wrapped += word;
        used += wide;
        is_line_empty = false;
    }
    return wrapped;
}

}  // namespace knell::cli
