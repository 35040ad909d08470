#include "cli/usage_words.hpp"

#include <algorithm>

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "config/nearest_word.hpp"

namespace knell::cli {

namespace {

/// "before MARK after" in its two parts; nothing where the mark is not there.
struct Parts {
    std::string before;
    std::string after;
};
std::optional<Parts> split_at(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    return Parts{std::string(text.substr(0, at)), std::string(text.substr(at + mark.size()))};
}

std::vector<std::string> words_in(std::string_view list, char separator) {
    std::vector<std::string> words;
    while (!list.empty()) words.emplace_back(take_field(list, separator));
    return words;
}

bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Bounds that are no more than those of the type go without saying.
std::string range_words(const std::string& value, const std::string& least,
                        const std::string& most) {
    constexpr std::size_t digits_of_a_type = 10;
    const auto allowed = most.size() >= digits_of_a_type ? fmt::format("{} or more", least)
                                                         : fmt::format("{} to {}", least, most);
    if (!is_number(value)) return fmt::format("\"{}\" is no whole number; give {}", value, allowed);
    return fmt::format("{} is out of range; give {}", value, allowed);
}

/// What our own checks found, and those of the parser.
std::string words_of_check(const std::string& said) {
    auto named = split_at(said, ": ");
    if (!named) return said;
    const auto& [name, why] = *named;
    if (const auto range = split_at(why, " not in range "); range && why.starts_with("Value ")) {
        const auto bounds = split_at(range->after, " to ");
        if (bounds) {
            return fmt::format("{}: {}", name,
                               range_words(range->before.substr(std::string_view("Value ").size()),
                                           bounds->before, bounds->after));
        }
    }
    if (auto choice = split_at(why, " not in {"); choice && why.ends_with('}')) {
        choice->after.pop_back();
        return fmt::format("{}: {}", name, none_of(choice->before, words_in(choice->after, ',')));
    }
    return said;
}

std::string words_of_conversion(const std::string& said) {
    constexpr std::string_view begin = "Could not convert: ";
    const auto parts = split_at(said, " = ");
    if (!said.starts_with(begin) || !parts) return said;
    return fmt::format("{}: \"{}\" is no number", parts->before.substr(begin.size()), parts->after);
}

std::string words_of_mismatch(const std::string& said) {
    if (const auto missing = split_at(said, " required "); missing && said.ends_with(" missing")) {
        return fmt::format("{} needs a value",
                           missing->before.substr(0, missing->before.find(':')));
    }
    constexpr std::string_view exactly = "Expected exactly 1 arguments to ";
    if (said.starts_with(exactly)) {
        const auto name = said.substr(exactly.size());
        return fmt::format("{} takes one value, and is given once", name.substr(0, name.find(',')));
    }
    return said;
}

/// An option as it is listed in the help: its long names first.
std::vector<std::string> names_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const auto* option : verb.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

const CLI::Option* find_option(const CLI::App& verb, const std::string& name) {
    return verb.get_option_no_throw(name);
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

/// -fn5: each letter by itself, up to the one that takes the rest as its value.
struct Short {
    std::string unknown;  // "": all are known
    bool wants_next = false;
};
Short look_at_short(const CLI::App& verb, std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const auto name = fmt::format("-{}", letters[i]);
        const auto* option = find_option(verb, name);
        if (option == nullptr) return {name};
        if (takes_value(*option)) return {{}, i + 1 == letters.size()};
    }
    return {};
}

}  // namespace

std::string unknown_word(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known) {
    const auto meant = nearest_word(word, known);
    return fmt::format("there is no {} \"{}\"{}", kind, word,
                       meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant));
}

std::string none_of(std::string_view word, const std::vector<std::string>& known) {
    const auto meant = nearest_word(word, known);
    return fmt::format("\"{}\" is none of: {}{}", word, fmt::join(known, ", "),
                       meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant));
}

std::string usage_words(const CLI::Error& error) {
    const std::string said = error.what();
    const auto kind = error.get_name();
    if (kind == "ValidationError") return words_of_check(said);
    if (kind == "ConversionError") return words_of_conversion(said);
    if (kind == "ArgumentMismatch") return words_of_mismatch(said);
    if (kind == "RequiredError") {
        const auto name = split_at(said, " is required");
        return name ? fmt::format("{} is missing", name->before) : said;
    }
    if (kind == "ExcludesError") {
        const auto both = split_at(said, " excludes ");
        return both ? fmt::format("{} and {} do not go together", both->before, both->after) : said;
    }
    if (kind == "RequiresError") {
        const auto both = split_at(said, " requires ");
        return both ? fmt::format("{} goes only with {}", both->before, both->after) : said;
    }
    // Named by its verb, not by its kind.
    const auto extra = split_at(said, "not expected: ");
    return extra ? fmt::format("there is no place for \"{}\"", extra->after) : said;
}

std::optional<std::string> unknown_option(const CLI::App& verb,
                                          const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& word = arguments[i];
        if (word == "--") return std::nullopt;
        if (word.size() < 2 || word.front() != '-') {
            if (verb.get_prefix_command()) return std::nullopt;
            continue;
        }
        if (word.starts_with("--")) {
            const auto name = word.substr(0, word.find('='));
            const auto* option = find_option(verb, name);
            if (option == nullptr) return unknown_word("option", name, names_of(verb));
            if (takes_value(*option) && name == word) ++i;
            continue;
        }
        const auto found = look_at_short(verb, std::string_view(word).substr(1));
        if (!found.unknown.empty()) return unknown_word("option", found.unknown, names_of(verb));
        if (found.wants_next) ++i;
    }
    return std::nullopt;
}

}  // namespace knell::cli
