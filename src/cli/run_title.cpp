#include "cli/run_title.hpp"

#include "cli/text_width.hpp"

namespace knell::cli {

std::string_view cut_utf8(std::string_view text, std::size_t size_max) {
    if (text.size() <= size_max) return text;
    auto end = size_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end);
}

std::string default_title(const std::vector<std::string>& command) {
    std::string title;
    for (const auto& word : command) {
        if (title.empty()) {
            title = word.substr(word.rfind('/') + 1);  // npos + 1 is 0: all of it
        } else {
            title += ' ';
            title += word;
        }
        if (title.size() > 4 * default_title_bytes_max) break;
    }
    const auto clean = one_line(title);
    return std::string(cut_utf8(clean, default_title_bytes_max));
}

}  // namespace knell::cli
