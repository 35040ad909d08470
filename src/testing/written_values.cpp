#include "testing/written_values.hpp"

#include <array>

#include <fmt/format.h>

namespace knell::testing {

namespace {

constexpr std::array of_every_type{
    "",
    "~",
    "null",
    "true",
    "False",
    "'true'",
    "0",
    "-1",
    "1",
    "5",
    "'5'",
    "1.5",
    "010",
    "a",
    "'a b'",
    "''",
    "'.'",
    "'..'",
    "a/b",
    "\"a\\tb\"",
    "\"a\\nb\"",
    "é",
    "[]",
    "[a]",
    "['']",
    "[a, '']",
    "['', a]",
    "[1, true, x]",
    "[[a]]",
    "[~]",
    "{}",
    "{a: b}",
    "[{a: b}]",
    "[{}]",
    "'off'",
    "soon",
    "1s",
    "90s",
    "2m",
    "010m",
    "1.5m",
    "'-5s'",
    "12h",
    "1d",
    "5x",
    "whsec_abc",
    "'5 s'",
    "'session:*'",
    "a1",
    "'1a'",
    "'a-b'",
    "'a:1'",
    "'[::1]:0'",
    "'127.0.0.1:0'",
    "\"a\\x7fb\"",
    "'localhost'",
    "'https://example.org/a'",
    "'https://u@example.org/'",
    "'ftp://a/'",
};

constexpr std::int64_t length_max = 5000;  // of what is worth writing out

std::string repeated(std::string_view part, std::int64_t times) {
    std::string text;
    for (std::int64_t i = 0; i < times; ++i) text += part;
    return text;
}

void add_numbers(std::vector<std::string>& values, std::int64_t min, std::int64_t max,
                 std::string_view unit) {
    for (const auto bound : {min, max}) {
        for (const auto number : {bound - 1, bound, bound + 1}) {
            values.push_back(fmt::format("{}{}", number, unit));
        }
    }
}

void add_durations(std::vector<std::string>& values, const Key& key) {
    const auto bare = key.bare_unit().count();
    add_numbers(values, key.min / bare, key.max / bare, "");
    add_numbers(values, key.min, key.max, "s");
    add_numbers(values, key.min / 60, key.max / 60, "m");
    add_numbers(values, key.min / 3600, key.max / 3600, "h");
    add_numbers(values, key.min / 86400, key.max / 86400, "d");
}

}  // namespace

std::vector<std::string> written_values(const Key& key) {
    std::vector<std::string> values(of_every_type.begin(), of_every_type.end());
    switch (key.type) {
        case KeyType::integer:
            add_numbers(values, key.min, key.max, "");
            break;
        case KeyType::duration:
            add_durations(values, key);
            break;
        case KeyType::time_of_day:
            for (const auto* value : {"06", "6:30", "06:30", "'6:30'", "'06'", "'6'", "23", "24",
                                      "23:59", "'24:00'", "'6:5'", "'6:60'", "'6:300'", "'006'"}) {
                values.emplace_back(value);
            }
            break;
        case KeyType::text:
        case KeyType::path:
            if (key.max > length_max) break;
            for (const auto length : {key.max, key.max + 1}) {
                values.push_back(repeated("a", length));
                values.push_back(repeated("é", length));
            }
            break;
        case KeyType::texts:
        case KeyType::command:
            for (const auto count : {key.max, key.max + 1}) {
                values.push_back(fmt::format("[{}]", repeated("a,", count)));
            }
            break;
        case KeyType::boolean:
        case KeyType::prose:
        case KeyType::items:
            break;
    }
    return values;
}

}  // namespace knell::testing
