#include "net/http/problem.hpp"

#include <gtest/gtest.h>

#include "wire/error_table.hpp"

namespace knell::net::http {
namespace {

TEST(Problem, SaysWhatTheErrorOfTheCallSays) {
    const auto problem = problem_of(bad_field("limit", "must be from 1 to 1000").error());

    EXPECT_EQ(problem.status, 422);
    EXPECT_EQ(problem.body,
              R"({"type":"urn:knell:problem:invalid_params","title":"invalid params",)"
              R"("status":422,"detail":"limit: must be from 1 to 1000","code":-32602,)"
              R"("kind":"invalid_params","field":"limit"})"
              "\n");
}

TEST(Problem, KeepsTheFactsAndItsOwnStatus) {
    const Error error{
        ErrorCode::ended,
        "over",
        {},
        Unowned{.since = from_millis(0), .generation = 3, .status = Status::detached}};

    const auto problem = problem_of(error);

    EXPECT_EQ(problem.status, 410);
    const auto parsed = wire::parse_json(problem.body);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(wire::int_at(parsed->get_object(), "status"), 410);
    EXPECT_EQ(wire::text_at(parsed->get_object(), "session_status"), "detached");
    EXPECT_EQ(wire::int_at(parsed->get_object(), "generation"), 3);
}

TEST(Problem, HasTheStatusOfTheTableUnlessToldOtherwise) {
    for (const auto& row : wire::error_table) {
        const Error error{row.code, "x", {}, {}};
        EXPECT_EQ(problem_of(error).status, row.http_status) << row.name;
        EXPECT_EQ(problem_of(error, 403).status, 403);
    }
}

}  // namespace
}  // namespace knell::net::http
