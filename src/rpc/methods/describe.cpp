// rpc.describe and rpc.openapi: the methods with what they take and answer, for people and for
// generators of clients.

#include "rpc/field_schema.hpp"
#include "rpc/method_table.hpp"
#include "rpc/openapi.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array described_fields{
    always("name", text, "as it stands in JSON"),
    always("type", text, "string, integer, number, boolean, object, array or any"),
    always("required", boolean, "of a result: whether it is always there"),
    always("about", text, "for people"),
    only("it has one", "format", text, "of a string: id, word or time"),
    only("a bound", "min", integer, "the least it may be"),
    only("a bound", "max", integer, "the most it may be"),
    only("a bound", "max_bytes", integer, "of a string, or of an object as JSON"),
    only("a bound", "min_items", integer, "of an array"),
    only("a bound", "max_items", integer, "of an array"),
    only("it has one", "default", any, "what stands for a missing one, of its own type"),
    Field{.name = "one_of",
          .type = array,
          .items = text,
          .when = "only these will do",
          .about = "the words it may be; of an array, its items"},
    only("of an array of plain values", "items", text, "their type"),
    only("shared", "object", text, "the entry of `objects` that it is, or its items are"),
    only("it has any", "fields", array, "of the object, or of an array's objects"),
    only("of a result", "when", text, "when it is there, if not always"),
};
constexpr std::array method_fields{
    always("name", text, "as it is called"),
    always("summary", text, "what it does"),
    always_objects("params", described_fields, "what it takes"),
    always_objects("result", described_fields, "what it answers"),
};
constexpr std::array object_fields{
    always("name", text, "as `object` names it"),
    always_objects("fields", described_fields, "what it holds"),
};
constexpr std::array describe_result{
    always_objects("methods", method_fields, "every method"),
    always_objects("objects", object_fields, "what several results hold"),
};

constexpr std::array openapi_result{
    always("openapi", text, "the version of OpenAPI"),
    always("info", object, "what is described"),
    always("security", array, "what calls need"),
    always("paths", object, "what is served over HTTP"),
    always("components", object, "schemas of what every method takes and answers"),
};

std::string_view format_of(FieldType type) {
    if (type == id) return "id";
    if (type == word) return "word";
    if (type == time) return "time";
    return {};
}

void put_bounds(JsonObject& object, const Field& field) {
    const bool is_list = field.type == FieldType::array;
    const bool is_number = field.type == integer;
    if (field.max == 0) return;
    if (is_number || field.min > 0) object[is_list ? "min_items" : "min"] = field.min;
    if (field.max == unbounded) return;
    object[is_number ? "max" : is_list ? "max_items" : "max_bytes"] = field.max;
}

JsonArray render(std::span<const Field> fields);

JsonObject render(const Field& field) {
    JsonObject object{{"name", field.name},
                      {"type", wire::json_type(field.type)},
                      {"required", field.required},
                      {"about", field.about}};
    if (const auto format = format_of(field.type); !format.empty()) object["format"] = format;
    put_bounds(object, field);
    if (auto standard = standard_of(field); !standard.is_null()) object["default"] = standard;
    if (!field.choices.empty()) {
        JsonArray words;
        for (const auto known : field.choices) {
            if (!known.empty()) words.emplace_back(known);
        }
        object["one_of"] = std::move(words);
    }
    if (field.type == FieldType::array && field.fields.empty()) {
        object["items"] = wire::json_type(field.items);
    }
    if (!field.object.empty()) {
        object["object"] = field.object;
    } else if (!field.fields.empty()) {
        object["fields"] = render(field.fields);
    }
    if (!field.when.empty()) object["when"] = field.when;
    return object;
}

JsonArray render(std::span<const Field> fields) {
    JsonArray array;
    for (const auto& field : fields) array.push_back(render(field));
    return array;
}

void describe(Call&& call, Backend&) {
    JsonArray all;
    for (const auto& method : methods()) {
        all.push_back(JsonObject{{"name", method.name},
                                 {"summary", method.summary},
                                 {"params", render(method.params)},
                                 {"result", render(method.result)}});
    }
    JsonArray objects;
    for (const auto& [name, fields] : shared_objects) {
        objects.push_back(JsonObject{{"name", name}, {"fields", render(fields)}});
    }
    call.respond(JsonObject{{"methods", std::move(all)}, {"objects", std::move(objects)}});
}

void describe_http(Call&& call, Backend&) {
    call.respond(openapi());
}

constexpr std::array family{
    Method{"rpc.describe",
           "this list",
           {},
           describe_result,
           describe,
           /*is_ordered=*/false,
           Access::read_only},
    Method{"rpc.openapi",
           "what is served over HTTP, as OpenAPI 3.1",
           {},
           openapi_result,
           describe_http,
           /*is_ordered=*/false,
           Access::read_only},
};

}  // namespace

std::span<const Method> rpc_methods() {
    return family;
}

}  // namespace knell::rpc
