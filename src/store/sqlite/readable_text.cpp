#include "store/sqlite/readable_text.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "base/text.hpp"

namespace knell::sqlite {

namespace {

/// Not a member of a store: rows are read by several connections, each on a thread of its own.
std::atomic<void (*)()> tell_once = nullptr;

/// How many of the first bytes are one character; 0: they are none.
std::size_t first_character(std::string_view bytes) {
    constexpr std::size_t character_bytes_max = 4;
    for (std::size_t size = 1; size <= std::min(character_bytes_max, bytes.size()); ++size) {
        if (is_utf8(bytes.substr(0, size))) return size;
    }
    return 0;
}

}  // namespace

std::string readable_text(std::string text) {
    if (is_utf8(text)) return text;
    if (auto* const tell = tell_once.exchange(nullptr)) tell();
    std::string readable;
    for (std::string_view rest = text; !rest.empty();) {
        const auto size = first_character(rest);
        readable += size == 0 ? "\xEF\xBF\xBD" : rest.substr(0, size);
        rest.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return readable;
}

void on_unreadable_text(void (*tell)()) {
    tell_once = tell;
}

}  // namespace knell::sqlite
