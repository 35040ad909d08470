#include "net/http/query_params.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace knell::net::http {

namespace {

using wire::Field;
using wire::FieldType;

/// Nothing when the text is no such value.
std::optional<Json> value_of(std::string_view text, FieldType type) {
    if (type == FieldType::integer) {
        std::int64_t number = 0;
        const auto* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
        return Json(number);
    }
    if (type == FieldType::boolean) {
        if (text == "true" || text == "1") return Json(true);
        if (text == "false" || text == "0") return Json(false);
        return std::nullopt;
    }
    if (type == FieldType::object) return std::nullopt;
    return Json(text);
}

std::string_view what_it_takes(FieldType type) {
    if (type == FieldType::integer) return "must be a whole number";
    if (type == FieldType::boolean) return "must be true or false";
    return "cannot be given in a query; use POST /v1/rpc";
}

std::string names_of_rows(std::span<const Field> rows) {
    std::string names;
    for (const auto& row : rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    return names.empty() ? "none is known here" : "known here: " + names;
}

Result<void> add(JsonObject& params, const Field& row, std::string_view text) {
    const auto name = std::string(row.name);
    if (row.type != FieldType::array) {
        if (params.contains(row.name)) return bad_field(name, "is given twice");
        auto value = value_of(text, row.type);
        if (!value) return bad_field(name, std::string(what_it_takes(row.type)));
        params[row.name] = std::move(*value);
        return {};
    }
    auto& list = params[row.name];
    if (!list.is_array()) list = JsonArray{};
    while (!text.empty()) {
        auto value = value_of(take_field(text, ','), row.items);
        if (!value) return bad_field(name, std::string(what_it_takes(row.items)));
        list.get_array().push_back(std::move(*value));
    }
    return {};
}

}  // namespace

Result<JsonObject> params_of_query(const std::vector<std::pair<std::string, std::string>>& query,
                                   std::span<const Field> rows) {
    JsonObject params;
    for (const auto& [name, text] : query) {
        if (name.empty()) return bad_field("query", "holds a value without a name: =" + text);
        const auto row = std::ranges::find(rows, name, &Field::name);
        if (row == rows.end()) {
            return bad_field(name, "is no parameter of this query; " + names_of_rows(rows));
        }
        if (auto added = add(params, *row, text); !added) {
            return std::unexpected(std::move(added.error()));
        }
    }
    return params;
}

}  // namespace knell::net::http
