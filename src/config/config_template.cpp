#include "config/config_template.hpp"

#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/keys.hpp"

namespace knell {

namespace {

constexpr auto head =
    R"(## Configuration of knell.  Every key is here with its default; to change one, remove the
## # at the start of its line and of the names above that it belongs to.
## `knell config check` says what is wrong, `knell config show` which values hold.
)";

class Template {
  public:
    std::string take() { return std::move(text_); }

    void add_section(std::string_view section, std::size_t indent) {
        bool has_alternative = false;
        for (const auto name : config_keys.names_in(section)) {
            const auto path = fmt::format("{}{}", section, name);
            const auto* key = config_keys.find(path);
            if (section.empty()) text_ += '\n';
            if (key == nullptr) {
                add_line(indent, fmt::format("{}:", name));
                add_section(path + ".", indent + 2);
                continue;
            }
            explain(indent, fmt::format("{} ({}).", key->about, describe_values(*key)));
            const bool is_alternative = key->presence == Presence::one_of;
            if (is_alternative && has_alternative) {
                // Where one of several is enough, the others are only told of.
                if (!key->example.empty()) {
                    explain(indent, fmt::format("Instead: {}: {}", name, key->example));
                }
                continue;
            }
            has_alternative = has_alternative || is_alternative;
            add_key(*key, indent);
        }
    }

  private:
    void add_key(const Key& key, std::size_t indent) {
        if (key.type == KeyType::items) {
            add_line(indent, fmt::format("{}:", key.name()));
            begins_item_ = true;
            add_section(fmt::format("{}[].", key.path), indent + 4);
            return;
        }
        add_line(indent, fmt::format("{}: {}", key.name(),
                                     key.fallback.empty() ? key.example : key.fallback));
    }
    void add_line(std::size_t indent, std::string_view line) {
        const bool is_first = std::exchange(begins_item_, false);
        text_ += is_first ? fmt::format("#{:{}}- {}\n", "", indent - 2, line)
                          : fmt::format("#{:{}}{}\n", "", indent, line);
    }
    /// Broken at blanks, to be read in a narrow window.
    void explain(std::size_t indent, const std::string& sentence) {
        constexpr std::size_t width = 88;
        const auto start = fmt::format("#{:{}}# ", "", indent);
        auto line = start;
        std::istringstream words(sentence);
        for (std::string word; words >> word;) {
            if (line.size() > start.size() && line.size() + 1 + word.size() > width) {
                text_ += line + "\n";
                line = start;
            }
            line += (line.size() > start.size() ? " " : "") + word;
        }
        text_ += line + "\n";
    }

    std::string text_ = head;
    bool begins_item_ = false;  // the next line is the first of an item
};

}  // namespace

std::string config_template() {
    Template written;
    written.add_section("", 0);
    return written.take();
}

}  // namespace knell
