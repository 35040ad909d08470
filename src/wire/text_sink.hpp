#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/session.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// What follows the backslash for each byte that cannot stand in a string: a letter, 'u' for a code
/// point, or 0 for a byte that can.  Bytes past ASCII stand as they are, like in every other
/// answer.
inline constexpr auto escapes = [] {
    std::array<char, 256> table{};
    for (std::size_t byte = 0; byte < 0x20; ++byte) table.at(byte) = 'u';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    table['"'] = '"';
    table['\\'] = '\\';
    return table;
}();

inline void append_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const char escape = escapes[byte];
        if (escape == 0) continue;
        out.append(text, copied, i - copied);
        copied = i + 1;
        out += '\\';
        out += escape;
        if (escape != 'u') continue;
        constexpr std::string_view digits = "0123456789abcdef";
        out += "00";
        out += digits[byte >> 4U];
        out += digits[byte & 0xfU];
    }
    out.append(text, copied);
    out += '"';
}

/// The sink of wire/fields.hpp that writes text.
class TextSink {
  public:
    explicit TextSink(std::string& out) : out_(out) { out_ += '{'; }

    void text(std::string_view name, std::string_view value) {
        if (value.empty()) return;
        put_name(name);
        append_string(out_, value);
    }
    void flag(std::string_view name, bool value) {
        put_name(name);
        out_ += value ? "true" : "false";
    }
    void number(std::string_view name, std::int64_t value) {
        put_name(name);
        append_number(value);
    }
    void time(std::string_view name, WallTime value) {
        put_name(name);
        out_ += '"';
        append_rfc3339(out_, value);
        out_ += '"';
    }
    void words(std::string_view name, const std::vector<std::string>& value) {
        put_name(name);
        out_ += '[';
        for (const auto& word : value) {
            if (&word != &value.front()) out_ += ',';
            append_string(out_, word);
        }
        out_ += ']';
    }
    /// JSON that comes from the store, as this would write it; left out when it is none.
    void json(std::string_view name, std::string_view text) {
        const auto value = parse_json(text);
        if (!value) return;
        put_name(name);
        out_ += to_text(*value);
    }
    template <typename List>
    void object(std::string_view name, List list) {
        put_name(name);
        TextSink inner(out_);
        list(inner);
        inner.finish();
    }
    template <typename Item, typename List>
    void objects(std::string_view name, const std::vector<Item>& items, List list) {
        if (items.empty()) return;
        put_name(name);
        char before = '[';
        for (const auto& item : items) {
            out_ += before;
            before = ',';
            TextSink inner(out_);
            list(inner, item);
            inner.finish();
        }
        out_ += ']';
    }
    void leftovers(std::string_view name, const std::vector<Leftover>& value) {
        if (value.empty()) return;
        put_name(name);
        char before = '[';
        for (const auto& leftover : value) {
            out_ += before;
            before = ',';
            out_ += R"({"pid":)";
            append_number(leftover.process.pid);
            out_ += R"(,"start_ticks":)";
            append_number(leftover.process.start_ticks);
            out_ += R"(,"found_by":)";
            append_string(out_, leftover.found_by);
            out_ += R"(,"command":)";
            append_string(out_, leftover.command);
            if (leftover.fate != Fate::unknown) {
                out_ += R"(,"fate":)";
                append_string(out_, name_in(fate_names, leftover.fate));
            }
            if (!leftover.process_id.empty()) {
                out_ += R"(,"process_id":)";
                append_string(out_, leftover.process_id.text());
            }
            out_ += '}';
        }
        out_ += ']';
    }
    void finish() { out_ += '}'; }

  private:
    void put_name(std::string_view name) {
        if (out_.back() != '{') out_ += ',';
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }
    template <typename Number>
    void append_number(Number value) {
        const fmt::format_int text(value);
        out_.append(text.data(), text.size());
    }

    std::string& out_;
};

}  // namespace knell::wire
