// docs/rpc.md has a table of all methods, one for what each takes and answers, and one for each
// object that several answers hold.  They are made here; UPDATE_DOCS=1 in the environment writes
// them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rpc/method_table.hpp"
#include "testing/doc_page.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {
namespace {

using wire::Field;
using wire::FieldType;

std::string words_of(std::span<const std::string_view> choices) {
    std::string words;
    for (const auto word : choices) {
        if (!word.empty()) words += fmt::format("{}`{}`", words.empty() ? "" : ", ", word);
    }
    return words;
}

std::string bounds_of(const Field& field) {
    if (field.max == 0) return {};
    if (field.type == FieldType::integer && field.max == wire::unbounded) {
        return fmt::format(", from {}", field.min);
    }
    if (field.type == FieldType::integer) return fmt::format(", {} to {}", field.min, field.max);
    const bool is_list = field.type == FieldType::array;
    return fmt::format(", at most {} {}", field.max, is_list ? "of them" : "bytes");
}

/// What it is, for people: "string, at most 512 bytes", "array of [sessions](#a-session)".
std::string type_of(const Field& field) {
    const bool is_list = field.type == FieldType::array;
    const auto type = is_list ? field.items : field.type;
    std::string text(wire::json_type(field.type));
    if (is_list && field.object.empty()) {
        text += fmt::format(" of {}s", wire::json_type(field.items));
    } else if (is_list) {
        text += fmt::format(" of {}{}", field.object, field.object.ends_with('s') ? "es" : "s");
    } else if (!field.object.empty()) {
        text = field.object;
    }
    if (type == FieldType::id) text += " (id)";
    if (type == FieldType::word) text += " (word)";
    if (type == FieldType::time) text += " (time)";
    if (!field.choices.empty()) text += ": " + words_of(field.choices);
    return text + bounds_of(field);
}

std::string standard_of(const Field& field) {
    if (field.required) return "required";
    if (!field.standard) return {};
    if (field.type == FieldType::boolean) return *field.standard != 0 ? "`true`" : "`false`";
    if (field.type != FieldType::choice) return fmt::format("`{}`", *field.standard);
    const auto name = field.choices[static_cast<std::size_t>(*field.standard)];
    return name.empty() ? std::string{} : fmt::format("`{}`", name);
}

/// Rows of the table, those of the fields inside behind their own.
void append_rows(std::string& text, std::span<const Field> fields, const std::string& path,
                 bool is_result) {
    for (const auto& field : fields) {
        const auto last = is_result
                              ? (field.required ? "always" : "when: " + std::string(field.when))
                              : standard_of(field);
        text += fmt::format("| `{}{}` | {} | {} | {} |\n", path, field.name, type_of(field), last,
                            field.about);
        if (!field.object.empty()) continue;  // it has a table of its own
        const auto* inside = field.type == FieldType::array ? "[]." : ".";
        append_rows(text, field.fields, fmt::format("{}{}{}", path, field.name, inside), is_result);
    }
}

std::string result_table(std::span<const Field> fields) {
    std::string text = "| result | is | there | about |\n|---|---|---|---|\n";
    append_rows(text, fields, {}, /*is_result=*/true);
    return text;
}

std::string method_tables(const Method& method) {
    std::string text;
    if (!method.params.empty()) {
        text += "| parameter | takes | default | about |\n|---|---|---|---|\n";
        append_rows(text, method.params, {}, /*is_result=*/false);
        text += "\n";
    }
    return text + result_table(method.result);
}

std::string all_methods() {
    std::string text = "| method | does |\n|---|---|\n";
    for (const auto& method : methods()) {
        auto anchor = std::string(method.name);
        std::erase(anchor, '.');
        text += fmt::format("| [`{}`](#{}) | {} |\n", method.name, anchor, method.summary);
    }
    return text;
}

/// What stands behind "<!-- KIND NAME -->", or nothing when that is no table.
std::optional<std::string> table_for(std::string_view marker) {
    if (marker == "<!-- methods -->") return all_methods();
    for (const auto& method : methods()) {
        if (marker == fmt::format("<!-- method {} -->", method.name)) return method_tables(method);
    }
    for (const auto& [name, fields] : wire::fields::shared_objects) {
        if (marker == fmt::format("<!-- object {} -->", name)) return result_table(fields);
    }
    return std::nullopt;
}

TEST(RpcDoc, TellsOfEveryMethodWhatItsRowsSay) {
    const auto tables = knell::testing::check_doc_page(KNELL_DOCS_DIR "/rpc.md", table_for);

    EXPECT_EQ(tables.size(), 1 + methods().size() + wire::fields::shared_objects.size())
        << "each method and each object has its table";
}

}  // namespace
}  // namespace knell::rpc
