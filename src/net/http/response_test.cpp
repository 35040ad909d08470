#include "net/http/response.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Response of_path(std::string_view path, Result<std::string> result) {
    const auto target = *parse_target(path);
    return response_to(std::move(result), std::get<Matched>(find_route("GET", target)), target);
}

TEST(Response, OfAMethodIsItsResult) {
    const auto response = of_path("/v1/sessions", R"({"sessions":[],"next":"5"})");

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.body, "{\"sessions\":[],\"next\":\"5\"}\n");
    EXPECT_THAT(response.headers,
                ElementsAre(Pair("Link", "</v1/sessions?cursor=5>; rel=\"next\"")));
    EXPECT_THAT(of_path("/v1/sessions", R"({"sessions":[]})").headers, IsEmpty());
}

TEST(Response, ToWhoHasSeenItIsNotModified) {
    const auto first =
        of_path("/v1/space/activity",
                R"({"generated_at":"now","etag":"\"1a2b\"","node":"n","sessions":[]})");
    EXPECT_EQ(first.status, 200);
    EXPECT_THAT(first.headers, ElementsAre(Pair("ETag", "\"1a2b\"")));

    const auto again = of_path("/v1/space/activity",
                               R"({"generated_at":"now","etag":"\"1a2b\"","unchanged":true})");
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_THAT(again.headers, ElementsAre(Pair("ETag", "\"1a2b\"")));
    EXPECT_THAT(of_path("/v1/space/activity", "{}").headers, IsEmpty());
}

TEST(Response, ForPrometheusIsText) {
    const auto response = of_path("/metrics", R"({"content_type":"t","text":"a 1\nb 2\n"})");
    EXPECT_THAT(response.content_type, HasSubstr("version=0.0.4"));
    EXPECT_EQ(response.body, "a 1\nb 2\n");
}

TEST(Response, OfAMethodThatRefusesIsAProblem) {
    const auto response = of_path("/v1/sessions", fail(ErrorCode::not_found, "none"));
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(of_path("/v1/sessions", fail(ErrorCode::unauthorized, "no")).status, 403);
}

TEST(Response, ToAStrangerEndsTheConnection) {
    const auto response = refused({.why = {ErrorCode::unauthorized, "no", {}, {}}, .status = 401});
    EXPECT_EQ(response.status, 401);
    EXPECT_TRUE(response.must_close);
    EXPECT_THAT(response.headers, ElementsAre(Pair("WWW-Authenticate", "Bearer")));
    EXPECT_THAT(refused({.why = {}, .status = 421}).headers, IsEmpty());
}

TEST(Response, SaysWhereNothingIs) {
    EXPECT_EQ(no_route_response(NoSuchPath{}).status, 404);
    const auto other = no_route_response(OtherVerbs{"POST"});
    EXPECT_EQ(other.status, 405);
    EXPECT_THAT(other.headers, ElementsAre(Pair("Allow", "POST")));
    EXPECT_EQ(health_response(true).status, 200);
    EXPECT_EQ(health_response(false).status, 503);
}

TEST(Response, MayBeRenderedOtherwise) {
    const Rendering rendering{.content_type = "text/plain", .body = [](std::string_view result) {
                                  return "<" + std::string(result) + ">";
                              }};
    const Route route{.verb = "GET", .path = "/x", .method = "m", .rendering = &rendering};

    const auto response = response_to(std::string("{}"), Matched{&route, {}}, Target{});

    EXPECT_EQ(response.content_type, "text/plain");
    EXPECT_EQ(response.body, "<{}>");
}

TEST(Response, OfACallHoldsItsErrors) {
    const auto response =
        response_to(wire::Answer{"7", fail(ErrorCode::not_found, "no session x")});
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr(R"("id":7,"error":{"code":-32001)"));
    EXPECT_EQ(response_to(std::nullopt).status, 204);
}

TEST(Response, IsCompressedWhereThatPays) {
    Response small{.body = "{}"};
    compress(small);
    EXPECT_EQ(small.body, "{}");
    EXPECT_THAT(small.headers, IsEmpty());
    Response large{.body = std::string(5000, 'a')};
    compress(large);
    EXPECT_LT(large.body.size(), 200U);
    EXPECT_THAT(large.headers, ElementsAre(Pair("Content-Encoding", "gzip")));
}

TEST(Response, CanBeWrittenWhole) {
    const auto text = whole_text(response_to(fail(ErrorCode::limit, "later").error()));
    EXPECT_THAT(text, HasSubstr("HTTP/1.1 429 Error\r\n"));
    EXPECT_THAT(text, HasSubstr("Connection: close\r\nContent-Length: "));
    EXPECT_THAT(text, EndsWith("}\n"));
    EXPECT_THAT(head_text(200, "text/event-stream"), HasSubstr("HTTP/1.1 200 OK\r\n"));
}

}  // namespace
}  // namespace knell::net::http
