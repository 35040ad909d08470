#include "rpc/openapi.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rpc/http_reads.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {
namespace {

using wire::Field;

/// What is under "#/a/b", or nullptr.
const Json* find_reference(const JsonObject& document, std::string_view reference) {
    if (!reference.starts_with("#/")) return nullptr;
    const Json* found = nullptr;
    const auto* object = &document;
    for (auto rest = reference.substr(2); !rest.empty();) {
        const auto slash = rest.find('/');
        if (object == nullptr) return nullptr;
        found = object->if_contains(rest.substr(0, slash));
        object = found == nullptr ? nullptr : found->if_object();
        rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    }
    return found;
}

template <typename Visit>
void visit_objects(const Json& value, Visit visit) {
    if (const auto* array = value.if_array()) {
        for (const auto& item : *array) visit_objects(item, visit);
    } else if (const auto* object = value.if_object()) {
        visit(*object);
        for (const auto& [name, inner] : *object) visit_objects(inner, visit);
    }
}

const JsonObject& document() {
    static const auto made = openapi();
    return made;
}

const JsonObject& at(const JsonObject& object, std::string_view path) {
    const auto* found = find_reference(object, fmt::format("#/{}", path));
    EXPECT_NE(found, nullptr) << path;
    return found->as_object();
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) {
    std::size_t references = 0;
    visit_objects(document(), [&](const JsonObject& object) {
        const auto* reference = object.if_contains("$ref");
        if (reference == nullptr || !reference->is_string()) return;
        ++references;
        EXPECT_NE(find_reference(document(), reference->get_string()), nullptr)
            << wire::to_text(*reference);
    });
    EXPECT_GT(references, 3 * methods().size());
}

TEST(OpenApi, DescribesEveryMethodAndEverySharedObject) {
    const auto& schemas = at(document(), "components/schemas");
    const auto& call = document().at("paths").at("/v1/rpc").at("post").at("requestBody");
    const auto& body = call.at("content").at("application/json").at("schema").as_object();
    for (const auto& method : methods()) {
        for (const auto* part : {"params", "result", "call"}) {
            EXPECT_TRUE(schemas.contains(fmt::format("{}.{}", method.name, part))) << method.name;
        }
        const auto& one = at(schemas, fmt::format("{}.call", method.name));
        EXPECT_EQ(one.at("properties").at("method").at("const"), Json(method.name));
        EXPECT_EQ(body.at("discriminator").at("mapping").at(method.name),
                  Json(fmt::format("#/components/schemas/{}.call", method.name)));
    }
    EXPECT_EQ(body.at("oneOf").as_array().size(), methods().size());
    for (const auto& [name, fields] : wire::fields::shared_objects) {
        EXPECT_EQ(at(schemas, name).at("properties").as_object().size(), fields.size()) << name;
    }
}

TEST(OpenApi, NamesOfComponentsAreAllowed) {
    for (const auto& [name, schema] : at(document(), "components/schemas")) {
        EXPECT_TRUE(std::ranges::all_of(std::string_view(name), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                   c == '-';
        })) << std::string_view(name);
    }
}

TEST(OpenApi, ServesTheseAndOnlySupervisorsNeedNoToken) {
    std::set<std::string_view> served;
    std::set<std::string_view> open;
    std::set<std::string_view> operations;
    for (const auto& [path, item] : at(document(), "paths")) {
        served.insert(path);
        for (const auto& [verb, operation] : item.as_object()) {
            if (operation.as_object().contains("security")) open.insert(path);
            operations.insert(operation.at("operationId").as_string());
            for (const auto& [status, response] : operation.at("responses").as_object()) {
                EXPECT_TRUE(response.as_object().contains("description") ||
                            response.as_object().contains("$ref"))
                    << std::string_view(path) << " " << std::string_view(status);
            }
        }
    }
    EXPECT_EQ(served, (std::set<std::string_view>{
                          "/v1/rpc", "/v1/sessions", "/v1/sessions/{id}", "/v1/sessions/{id}/why",
                          "/v1/sessions/{id}/messages", "/v1/processes", "/v1/processes/{id}",
                          "/v1/processes/{id}/output", "/v1/hooks", "/v1/stats", "/v1/status",
                          "/v1/space/activity", "/v1/events", "/metrics", "/healthz", "/readyz",
                          "/openapi.json"}));
    EXPECT_EQ(open, (std::set<std::string_view>{"/healthz", "/readyz"}));
    EXPECT_EQ(operations.size(), served.size()) << "each operation has a name of its own";
}

/// The parameters of a GET, by where and what they are called: "query limit".
std::set<std::string> parameters_of(std::string_view path) {
    std::set<std::string> names;
    const auto& operation = document().at("paths").at(path).at("get").as_object();
    if (!operation.contains("parameters")) return names;
    for (const auto& parameter : operation.at("parameters").as_array()) {
        names.insert(fmt::format("{} {}", std::string_view(parameter.at("in").as_string()),
                                 std::string_view(parameter.at("name").as_string())));
    }
    return names;
}

TEST(OpenApi, TakesQueryParametersFromTheRows) {
    using Names = std::set<std::string>;
    EXPECT_EQ(
        parameters_of("/v1/sessions"),
        (Names{"query source", "query key", "query status", "query ended", "query all",
               "query by_end", "query cwd", "query within_s", "query limit", "query cursor"}));
    EXPECT_EQ(parameters_of("/v1/sessions/{id}"), Names{"path id"});
    EXPECT_EQ(parameters_of("/v1/sessions/{id}/messages"),
              (Names{"path id", "query limit", "query before"}));
    EXPECT_EQ(parameters_of("/v1/events"),
              (Names{"query after", "query types", "query session_id", "header Last-Event-ID"}));
    EXPECT_EQ(parameters_of("/v1/space/activity"),
              (Names{"query since", "query all", "header If-None-Match"}));
    EXPECT_EQ(parameters_of("/v1/status"), Names{});
    EXPECT_EQ(parameters_of("/v1/processes"),
              (Names{"query session_id", "query key", "query task_id", "query all", "query limit",
                     "query cursor"}));
    EXPECT_EQ(parameters_of("/v1/processes/{id}"), Names{"path id"});
    EXPECT_EQ(parameters_of("/v1/processes/{id}/output"),
              (Names{"path id", "query after", "query limit", "query encoding"}));
}

TEST(OpenApi, EveryReadIsAMethodAndItsRows) {
    for (const auto& read : http_reads) {
        const auto method = std::ranges::find(methods(), read.method, &Method::name);
        ASSERT_NE(method, methods().end()) << read.path;
        for (const auto name : read.only) {
            if (name.empty()) continue;
            EXPECT_NE(std::ranges::find(method->params, name, &Field::name), method->params.end())
                << read.path << " " << name;
        }
    }
}

}  // namespace
}  // namespace knell::rpc
