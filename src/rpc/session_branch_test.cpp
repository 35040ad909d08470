// session.branch and session.compress: children that go on.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/commands.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/record_check.hpp"

namespace knell::rpc {
namespace {

class Children : public ::testing::Test {
  protected:
    Children() {
        call("session.create", R"({"id":"a","source":"cli","key":"k","title":"first"})");
        call("session.append",
             R"({"session_id":"a","generation":1,"messages":[{"role":"user","content":"x"}]})");
    }
    JsonObject call(std::string_view method, std::string_view params) {
        const auto line = backend_.answer(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params));
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    JsonObject show(std::string_view id) {
        return call("session.show", fmt::format(R"({{"session_id":"{}"}})", id));
    }
    void TearDown() override {
        EXPECT_EQ(testing::broken_promises(backend_.reader()), std::vector<std::string>{});
    }

    testing::InProcessBackend backend_;
};

TEST_F(Children, ABranchEndsItsParentAndTakesItsKeyAndMessages) {
    const auto branched = call("session.branch", R"({"session_id":"a","generation":1})");
    const auto child = std::string(wire::text_at(branched, "session_id"));

    EXPECT_EQ(branched.at("parent_id").as_string(), "a");
    EXPECT_EQ(branched.at("parent_ended").as_bool(), true);
    EXPECT_EQ(branched.at("generation").as_int64(), 1);
    const auto parent = show("a");
    EXPECT_EQ(parent.at("reason").as_string(), "branched");
    EXPECT_EQ(parent.at("successor").as_string(), child);
    const auto shown = show(child);
    EXPECT_EQ(shown.at("relation").as_string(), "branch");
    EXPECT_EQ(shown.at("key").as_string(), "k");
    EXPECT_EQ(shown.at("title").as_string(), "first");
    EXPECT_EQ(shown.at("message_count").as_int64(), 1);

    const auto late =
        call("session.append", R"({"session_id":"a","generation":1,"messages":[{"role":"user",)"
                               R"("content":"x"}]})");
    EXPECT_EQ(late.at("code").as_int64(), -32005);
    EXPECT_EQ(late.at("data").at("successor").as_string(), child);
}

TEST_F(Children, AParentThatIsKeptOpenGoesOn) {
    const auto branched =
        call("session.branch", R"({"session_id":"a","generation":1,"keep_open":true,"title":"b"})");

    EXPECT_EQ(branched.at("parent_ended").as_bool(), false);
    EXPECT_EQ(show("a").at("key").as_string(), "k");
    EXPECT_FALSE(show("a").contains("successor"));
    EXPECT_EQ(show(branched.at("session_id").as_string()).at("title").as_string(), "b");
}

TEST_F(Children, ABranchOfAnotherGenerationIsFenced) {
    const auto error = call("session.branch", R"({"session_id":"a","generation":2})");

    EXPECT_EQ(error.at("code").as_int64(), -32003);
}

TEST_F(Children, ACompressionIsAnsweredWhenItIsOver) {
    constexpr auto params = R"({"session_id":"a","generation":1})";
    backend_.compression = CompressResult{.outcome = CompressOutcome::compressed,
                                          .child = OpenedReply{SessionId("b"), 1, Status::idle, {}},
                                          .provider = "first",
                                          .why = {}};
    EXPECT_EQ(wire::to_text(call("session.compress", params)),
              R"({"outcome":"compressed","child":{"session_id":"b","generation":1},)"
              R"("provider":"first"})");
    EXPECT_EQ(backend_.compressed, std::vector{SessionId("a")});

    backend_.compression = CompressResult{.outcome = CompressOutcome::failed,
                                          .child = {},
                                          .provider = {},
                                          .why = "first took longer than 240 s"};
    EXPECT_EQ(wire::to_text(call("session.compress", params)),
              R"({"outcome":"failed","why":"first took longer than 240 s"})");

    backend_.compression = fail(ErrorCode::limit, "too many");
    EXPECT_EQ(call("session.compress", params).at("code").as_int64(), -32007);
}

TEST_F(Children, ACompressionWithoutItsGenerationIsNotBegun) {
    const auto error = call("session.compress", R"({"session_id":"a"})");

    EXPECT_EQ(error.at("data").at("field").as_string(), "generation");
    EXPECT_TRUE(backend_.compressed.empty());
}

}  // namespace
}  // namespace knell::rpc
