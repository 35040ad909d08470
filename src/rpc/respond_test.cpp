#include "rpc/respond.hpp"

#include <gtest/gtest.h>

#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

class RespondTrial : public ::testing::Test {
  protected:
    Respond respond() {
        return Respond([this](Result<Json> result) {
            answers_.push_back(result ? wire::to_text(*result) : result.error().message);
        });
    }
    std::vector<std::string> answers_;
};

TEST_F(RespondTrial, OneThatIsDroppedAnswersAllTheSame) {
    {
        const auto dropped = respond();
    }
    EXPECT_EQ(answers_, std::vector<std::string>{"the call was not answered"});
}

TEST_F(RespondTrial, OneThatIsAnsweredMovedOrReleasedIsNotForgotten) {
    {
        auto first = respond();
        auto second = std::move(first);
        second(Json(1));
        EXPECT_FALSE(second);
        respond().release();
        const Respond nobody;
    }
    EXPECT_EQ(answers_, std::vector<std::string>{"1"});
}

TEST_F(RespondTrial, OneThatIsReplacedIsForgotten) {
    auto first = respond();
    first = respond();
    EXPECT_EQ(answers_.size(), 1U);
    first.release();
}

TEST_F(RespondTrial, ACallThatNobodyAnswersIsAnsweredInternal) {
    testing::InProcessBackend backend;
    backend.forgets_reads = true;

    const auto line = backend.answer(R"({"jsonrpc":"2.0","id":7,"method":"session.list"})");

    const auto answer = wire::parse_json(line)->as_object();
    EXPECT_EQ(answer.at("id").as_int64(), 7);
    EXPECT_EQ(answer.at("error").at("data").at("kind").as_string(), "internal");
}

}  // namespace
}  // namespace knell::rpc
