// The rows of every method against what it really reads and answers.  That each answer is what the
// rows of its method say, and each refusal names a row, InProcessBackend checks for all tests.

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rpc/method_table.hpp"
#include "testing/field_check.hpp"
#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

using wire::Field;
using wire::FieldType;

std::string line_of(std::string_view method, const JsonObject& params) {
    return wire::to_text(
        JsonObject{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}});
}

JsonObject sample_of(std::span<const Field> rows, bool with_arrays);

Json sample_item(const Field& row, bool with_arrays) {
    if (!row.fields.empty()) return sample_of(row.fields, with_arrays);
    return row.choices.empty() ? Json("a") : Json(row.choices.front());
}

/// An object with something that will do for each row.
JsonObject sample_of(std::span<const Field> rows, bool with_arrays) {
    JsonObject object;
    for (const auto& row : rows) {
        switch (row.type) {
            case FieldType::integer:
                object[row.name] = std::max<std::int64_t>(row.min, row.name == "pid" ? 100 : 1);
                break;
            case FieldType::boolean:
                object[row.name] = true;
                break;
            case FieldType::choice:
                object[row.name] = row.choices.back();
                break;
            case FieldType::object:
                object[row.name] = sample_of(row.fields, with_arrays);
                break;
            case FieldType::array:
                if (!with_arrays) break;
                object[row.name] = JsonArray{sample_item(row, with_arrays)};
                break;
            default:
                object[row.name] = "a";
        }
    }
    return object;
}

void list_unread(std::span<const Field> rows, const wire::FieldTrace& trace, std::string path,
                 std::string& unread) {
    for (const auto& row : rows) {
        if (!trace.contains(&row)) unread += fmt::format("{}{}\n", path, row.name);
        list_unread(row.fields, trace, fmt::format("{}{}.", path, row.name), unread);
    }
}

TEST(RpcFields, EveryRowOfEveryMethodIsRead) {
    for (const auto& method : methods()) {
        testing::InProcessBackend backend;
        wire::FieldTrace trace;
        backend.dispatcher().trace(trace);
        for (const bool with_arrays : {true, false}) {
            backend.answer(line_of(method.name, sample_of(method.params, with_arrays)));
        }
        std::string unread;
        list_unread(method.params, trace, fmt::format("{} ", method.name), unread);
        EXPECT_EQ(unread, "");
    }
}

void expect_sound(std::span<const Field> rows, std::string_view where, bool is_result) {
    for (const auto& row : rows) {
        const auto place = fmt::format("{} {}", where, row.name);
        EXPECT_FALSE(row.about.empty()) << place;
        EXPECT_TRUE(row.about.ends_with("...") || !row.about.ends_with('.')) << place;
        EXPECT_EQ(std::ranges::count(rows, row.name, &Field::name), 1) << place;
        EXPECT_EQ(row.type == FieldType::choice && row.choices.empty(), false) << place;
        if (is_result) {
            EXPECT_EQ(row.required, row.when.empty()) << place;
        } else {
            EXPECT_TRUE(row.when.empty()) << place;
            EXPECT_FALSE(row.required && row.standard) << place;
            EXPECT_TRUE(row.type != FieldType::integer || row.max > 0) << place;
        }
        expect_sound(row.fields, place, is_result);
    }
}

TEST(RpcFields, RowsAreSound) {
    for (const auto& method : methods()) {
        expect_sound(method.params, method.name, /*is_result=*/false);
        expect_sound(method.result, method.name, /*is_result=*/true);
        EXPECT_FALSE(method.result.empty()) << method.name;
    }
}

/// Whatever JSON holds, near the bounds of `row` or far from anything that it takes.
Json random_value(std::mt19937_64& random, const Field* row, int depth) {
    const auto below = [&random](std::uint64_t bound) { return random() % bound; };
    switch (below(depth > 0 ? 12 : 8)) {
        case 0:
            return nullptr;
        case 1:
            return below(2) == 0;
        case 2:
            return static_cast<std::int64_t>(random());
        case 3:
            return row == nullptr ? 0 : row->min - 1 + static_cast<std::int64_t>(below(3));
        case 4:
            return static_cast<double>(below(100)) / 7;
        case 5:
            return Json(
                std::string(below(2) == 0 ? below(5) : below(5000), below(9) == 0 ? '\n' : 'a'));
        case 6:
            return row == nullptr || row->choices.empty()
                       ? Json("a")
                       : Json(row->choices[below(row->choices.size())]);
        case 7:
            return static_cast<std::int64_t>(below(300));
        default:
            break;
    }
    JsonObject object;
    for (const auto& inner : row == nullptr ? std::span<const Field>{} : row->fields) {
        if (below(3) > 0) object[inner.name] = random_value(random, &inner, depth - 1);
    }
    if (below(2) == 0) return object;
    JsonArray array;
    for (auto left = below(4); left > 0; --left) {
        array.push_back(below(3) == 0 ? random_value(random, row, depth - 1) : Json(object));
    }
    return array;
}

TEST(RpcFields, WhateverIsSentIsAnsweredOrRefusedByARow) {
    std::mt19937_64 random(1);
    testing::InProcessBackend backend;
    for (int round = 0; round < 300; ++round) {
        for (const auto& method : methods()) {
            auto params = random() % 2 == 0 ? JsonObject{} : sample_of(method.params, true);
            for (const auto& row : method.params) {
                if (random() % 3 == 0) params[row.name] = random_value(random, &row, 3);
            }
            backend.answer(line_of(method.name, params));
        }
    }
}

TEST(RpcFields, ABreachOfTheRowsIsFound) {
    static constexpr std::array inner{Field{.name = "b", .type = FieldType::id, .required = true}};
    static constexpr std::array rows{
        Field{.name = "a", .type = FieldType::integer, .required = true},
        Field{.name = "list", .type = FieldType::array, .fields = inner, .when = "at times"},
    };
    const auto breach = [&](std::string_view text) {
        return testing::breach_of(rows, wire::parse_json(text)->as_object());
    };
    EXPECT_EQ(breach(R"({"a":1,"list":[{"b":"x"}]})"), "");
    EXPECT_EQ(breach(R"({})"), "a is missing");
    EXPECT_EQ(breach(R"({"a":"1"})"), "a: is no integer");
    EXPECT_EQ(breach(R"({"a":1,"c":1})"), "c is in no row");
    EXPECT_EQ(breach(R"({"a":1,"list":[{}]})"), "list: b is missing");
    EXPECT_TRUE(testing::is_row(rows, "list[7].b"));
    EXPECT_TRUE(testing::is_row(rows, "list[0]"));
    EXPECT_FALSE(testing::is_row(rows, "list[7].c"));
    EXPECT_FALSE(testing::is_row(rows, "b"));
}

}  // namespace
}  // namespace knell::rpc
