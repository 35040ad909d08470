#include "net/http/routes.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/method_table.hpp"

namespace knell::net::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Matched matched(std::string_view verb, std::string_view text) {
    auto found = find_route(verb, *parse_target(text));
    if (auto* it = std::get_if<Matched>(&found)) return std::move(*it);
    ADD_FAILURE() << verb << " " << text;
    return {&routes().front(), {}};
}

std::string link(std::string_view text, std::string_view result) {
    const auto target = *parse_target(text);
    return next_link(std::get<Matched>(find_route("GET", target)), target, result);
}

TEST(Routes, LeadToMethodsThatExistAndTakeWhatThePathGives) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const auto& route : routes()) {
        EXPECT_TRUE(seen.emplace(route.verb, route.path).second) << route.path;
        if (route.method.empty()) {
            EXPECT_NE(route.serves, Serves::call) << route.path;
            continue;
        }
        const auto method = std::ranges::find(rpc::methods(), route.method, &rpc::Method::name);
        ASSERT_NE(method, rpc::methods().end()) << route.path;
        const auto takes = [&](std::string_view name) {
            return std::ranges::find(method->params, name, &wire::Field::name) !=
                   method->params.end();
        };
        if (!route.next_param.empty()) {
            EXPECT_TRUE(takes(route.next_param)) << route.path;
        }
        if (!route.renamed.param.empty()) {
            EXPECT_TRUE(takes(route.renamed.param)) << route.path;
        }
        if (const auto brace = route.path.find('{'); brace != std::string_view::npos) {
            const auto end = route.path.find('}');
            EXPECT_TRUE(takes(route.path.substr(brace + 1, end - brace - 1))) << route.path;
        }
    }
}

TEST(Routes, AreFoundByVerbAndPath) {
    EXPECT_EQ(matched("GET", "/v1/sessions").route->method, "session.list");
    EXPECT_EQ(matched("HEAD", "/v1/status").route->method, "node.status");
    EXPECT_EQ(matched("POST", "/v1/rpc").route->serves, Serves::rpc);
    const auto why = matched("GET", "/v1/sessions/a%2Fb/why");
    EXPECT_EQ(why.route->method, "session.why");
    EXPECT_THAT(why.params, ElementsAre(Pair("session_id", "a/b")));
}

TEST(Routes, GiveTheQueryToTheMethod) {
    EXPECT_THAT(matched("GET", "/v1/sessions?limit=5&all=1").params,
                ElementsAre(Pair("limit", "5"), Pair("all", "1")));
    EXPECT_THAT(matched("GET", "/v1/sessions/x/messages?limit=7&before=3").params,
                ElementsAre(Pair("session_id", "x"), Pair("messages", "7"), Pair("before", "3")));
    EXPECT_THAT(matched("GET", "/v1/sessions/x/messages").params,
                ElementsAre(Pair("session_id", "x"), Pair("messages", "50")));
}

TEST(Routes, LeadToBackgroundProcesses) {
    EXPECT_EQ(matched("GET", "/v1/processes?session_id=a").route->method, "process.list");
    EXPECT_EQ(matched("GET", "/v1/processes/p-1").route->method, "process.show");
    const auto output = matched("GET", "/v1/processes/p-1/output?after=7");
    EXPECT_EQ(output.route->method, "process.output");
    EXPECT_THAT(output.params, ElementsAre(Pair("process_id", "p-1"), Pair("after", "7")));
    EXPECT_EQ(link("/v1/processes?all=1", R"({"processes":[],"next":"41"})"),
              "</v1/processes?all=1&cursor=41>; rel=\"next\"");
}

TEST(Routes, ThatDoNotExistAreToldFromOtherVerbs) {
    for (const auto* text : {"/", "/v1", "/v1/", "/v1/sessions/x/y", "/v1/sessions//why",
                             "/V1/status", "//v1/status", "/v1/status/x"}) {
        EXPECT_TRUE(std::holds_alternative<NoSuchPath>(find_route("GET", *parse_target(text))))
            << text;
    }
    const auto post = find_route("POST", *parse_target("/v1/status"));
    ASSERT_TRUE(std::holds_alternative<OtherVerbs>(post));
    EXPECT_EQ(std::get<OtherVerbs>(post).allowed, "GET, HEAD");
    const auto get = find_route("GET", *parse_target("/v1/rpc"));
    ASSERT_TRUE(std::holds_alternative<OtherVerbs>(get));
    EXPECT_EQ(std::get<OtherVerbs>(get).allowed, "POST");
}

TEST(Routes, OnlyHealthNeedsNoToken) {
    for (const auto& route : routes()) {
        EXPECT_EQ(route.needs_token(), !route.path.ends_with("z")) << route.path;
    }
}

TEST(NextLink, LeadsToTheNextPageWithTheSameFilters) {
    EXPECT_EQ(link("/v1/sessions?key=a%3Ab&cursor=9&limit=2", R"({"sessions":[],"next":"41"})"),
              "</v1/sessions?key=a%3Ab&limit=2&cursor=41>; rel=\"next\"");
    EXPECT_EQ(link("/v1/sessions", R"({"sessions":[],"next":"41"})"),
              "</v1/sessions?cursor=41>; rel=\"next\"");
    EXPECT_EQ(link("/v1/sessions/x/messages", R"({"id":"x","messages":[],"messages_next":7})"),
              "</v1/sessions/x/messages?before=7>; rel=\"next\"");
}

TEST(NextLink, IsNotMadeOfSomethingInsideTheResult) {
    for (const auto* result :
         {R"({"sessions":[]})", R"({"sessions":[{"id":"x","meta":{"a":1,"next":"41"}}]})",
          R"({"sessions":[{"title":",\"next\":\"41\"}"}]})", R"({"sessions":[],"next":"a b"})",
          ""}) {
        EXPECT_THAT(link("/v1/sessions", result), IsEmpty()) << result;
    }
    EXPECT_THAT(link("/v1/status", R"({"a":1,"next":"41"})"), IsEmpty());
}

}  // namespace
}  // namespace knell::net::http
