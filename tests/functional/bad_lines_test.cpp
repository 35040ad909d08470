// What is not a call at all: each line gets an error or a clean close, and nobody else notices.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class BadLines : public WithDaemon {
  protected:
    /// This connection, and anybody else's, still works.
    void TearDown() override { EXPECT_TRUE(Client(home.socket()).call("node.status").ok()); }
    void expect_usable() { EXPECT_TRUE(client.call("node.status").ok()); }
};

TEST_F(BadLines, WhatIsNotJson) {
    for (const auto* line : {"hello", "{", R"({"jsonrpc":"2.0","id":1,)", "{}{}", "nul", "\x01",
                             R"({"a":"b)", "'single'", "{\"a\":1,}", "[1,2", "NaN"}) {
        const auto refused = client.ask(line);
        EXPECT_EQ(refused.code(), -32700) << line;
        EXPECT_EQ(refused.kind(), "parse_error") << line;
        EXPECT_TRUE(at(refused.whole, "id").is_null());
    }
    expect_usable();
}

TEST_F(BadLines, WhatIsNotUtf8) {
    for (const auto* bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
        const auto refused = client.ask(fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"session.create","params":{{"source":"cli","title":"{}"}}}})",
            bytes));
        EXPECT_EQ(refused.code(), -32700);
        EXPECT_THAT(refused.message(), HasSubstr("UTF-8"));
    }
    expect_usable();
}

TEST_F(BadLines, AZeroByte) {
    const std::string line("{\"jsonrpc\":\"2.0\"\0}", 18);

    EXPECT_EQ(client.ask(line).code(), -32700);
    expect_usable();
}

TEST_F(BadLines, WhatIsJsonButNoRequest) {
    for (const auto* line :
         {R"([{"jsonrpc":"2.0","id":1,"method":"node.status"}])", "[]", "1", "null", "true",
          R"("node.status")", "{}", R"({"id":1})", R"({"jsonrpc":"1.0","id":1,"method":"x"})",
          R"({"jsonrpc":2.0,"id":1,"method":"x"})", R"({"jsonrpc":"2.0","id":1})",
          R"({"jsonrpc":"2.0","id":1,"method":7})",
          R"({"jsonrpc":"2.0","id":1,"method":"node.status","params":[1]})",
          R"({"jsonrpc":"2.0","id":1,"method":"node.status","params":"x"})",
          R"({"jsonrpc":"2.0","id":{},"method":"node.status"})",
          R"({"jsonrpc":"2.0","id":[1],"method":"node.status"})",
          R"({"jsonrpc":"2.0","id":true,"method":"node.status"})"}) {
        const auto refused = client.ask(line);
        EXPECT_EQ(refused.code(), -32600) << line;
        EXPECT_EQ(refused.kind(), "invalid_request") << line;
        EXPECT_NE(refused.message(), "") << line;
    }
    expect_usable();
}

TEST_F(BadLines, ARequestWithoutVersionOrMethodIsAnsweredUnderItsId) {
    const auto refused = client.ask(R"({"jsonrpc":"2.0","id":"mine"})");

    EXPECT_EQ(text(refused.whole, "id"), "mine");
    EXPECT_THAT(refused.message(), HasSubstr("method"));
}

TEST_F(BadLines, AnIdComesBackAsItWas) {
    for (const auto* id : {"1", "0", "-7", "9007199254740993", "1.5", R"("a")", R"("")", "null",
                           R"("Grüße \" \\ \n")"}) {
        const auto answer =
            client.ask(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"node.status"}})", id));
        EXPECT_TRUE(answer.ok()) << id;
        EXPECT_EQ(at(answer.whole, "id"), parse(id)) << id;
    }
}

TEST_F(BadLines, NestedAHundredDeep) {
    const auto deep = std::string(100, '[') + std::string(100, ']');

    const auto refused = client.ask(fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"session.create","params":{{"source":"cli","meta":{{"a":{}}}}}}})",
        deep));

    EXPECT_EQ(refused.code(), -32700);
    EXPECT_THAT(refused.message(), HasSubstr("deep"));
    expect_usable();
}

TEST_F(BadLines, NestedAHundredThousandDeep) {
    EXPECT_EQ(client.ask(std::string(100'000, '[')).code(), -32700);
    EXPECT_EQ(client.ask(std::string(200'000, '{')).code(), -32700);
    expect_usable();
}

TEST_F(BadLines, AnUnknownMethodIsNamed) {
    const auto refused = client.call("session.explode");

    EXPECT_EQ(refused.code(), -32601);
    EXPECT_THAT(refused.message(), HasSubstr("session.explode"));
    EXPECT_LT(client.call(std::string(100'000, 'x')).message().size(), 300U);
}

TEST_F(BadLines, ANotificationGetsNoAnswerButIsDone) {
    client.send(R"({"jsonrpc":"2.0","method":"session.create","params":{"id":"s","source":"cli"}})"
                "\n"
                R"({"jsonrpc":"2.0","method":"session.explode"})"
                "\n"
                R"({"jsonrpc":"2.0","method":"session.create","params":{"id":"/"}})"
                "\n");

    EXPECT_EQ(create(R"({"id":"next","source":"cli"})"), "next");  // its answer is the next line
    EXPECT_EQ(text(show("s"), "status"), "idle");
}

TEST_F(BadLines, EmptyLinesAndCarriageReturnsAreNothing) {
    client.send("\n\r\n  \t \n\r\n");
    client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"node.status\"}\r\n");

    EXPECT_TRUE(client.read_answer().ok());
    expect_usable();
}

TEST_F(BadLines, ACallInPiecesIsOneCall) {
    for (const char byte : std::string_view(R"({"jsonrpc":"2.0","id":1,"method":"node.status"})")) {
        client.send({&byte, 1});
    }
    client.send("\n");

    EXPECT_TRUE(client.read_answer().ok());
}

TEST_F(BadLines, ALastLineWithoutItsNewlineIsACallToo) {
    client.send(
        R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"id":"s","source":"cli"}})");
    client.finish_sending();

    EXPECT_EQ(text(client.read_answer().result(), "session_id"), "s");
    EXPECT_TRUE(client.is_closed());
}

TEST_F(BadLines, HalfALineIsNeverDone) {
    client.send(
        R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"id":"s","source":"cli"})");
    client.finish_sending();

    EXPECT_EQ(client.read_answer().kind(), "parse_error");
    EXPECT_TRUE(client.is_closed());
    Client other(home.socket());
    EXPECT_EQ(other.call("session.show", R"({"session_id":"s"})").code(), -32001);
}

TEST_F(BadLines, ANumberThatIsTooLargeIsRefusedWhereverItIs) {
    for (const auto* number : {"1e400", "-1e400", "1e309"}) {
        const auto in_meta = client.ask(fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"session.create","params":{{"id":"s","source":"cli","meta":{{"a":[0,{}]}}}}}})",
            number));
        EXPECT_EQ(in_meta.kind(), "parse_error") << number;
        EXPECT_THAT(in_meta.message(), HasSubstr("params.meta.a.1: ")) << number;
        const auto as_id = client.ask(
            fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"node.status"}})", number));
        EXPECT_EQ(as_id.kind(), "parse_error") << number;
        EXPECT_THAT(as_id.message(), HasSubstr("id: ")) << number;
        EXPECT_TRUE(at(as_id.whole, "id").is_null());
    }
    EXPECT_EQ(client.call("session.show", R"({"session_id":"s"})").code(), -32001);
    EXPECT_EQ(
        text(client.must("session.create", R"({"id":"t","source":"cli","meta":{"a":1.7e308}})"),
             "session_id"),
        "t");
    expect_usable();
}

TEST_F(BadLines, WhoStopsSendingStillGetsItsAnswers) {
    for (int i = 0; i < 50; ++i) {
        client.send(
            R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"cli"}})"
            "\n");
    }
    client.finish_sending();

    for (int i = 0; i < 50; ++i) EXPECT_TRUE(client.read_answer().ok());
    EXPECT_TRUE(client.is_closed());
}

TEST_F(BadLines, TwoMebibytesInALineAreRefusedAndClosed) {
    Client other(home.socket());
    other.must("session.create", R"({"id":"other","source":"cli"})");

    client.send(std::string(2U << 20U, 'x') + "\n");  // it may be cut off in the middle

    const auto refused = client.read_answer();
    EXPECT_EQ(refused.code(), -32007);
    EXPECT_EQ(refused.kind(), "limit");
    EXPECT_THAT(refused.message(), HasSubstr("1048576"));
    EXPECT_TRUE(client.is_closed());
    EXPECT_TRUE(other.call("session.show", R"({"session_id":"other"})").ok());
}

TEST_F(BadLines, ALineOfExactlyTheLimitIsTaken) {
    std::string line = R"({"jsonrpc":"2.0","id":1,"method":"node.status","params":{"pad":")";
    line += std::string((1U << 20U) - line.size() - 3, 'x') + R"("}})";
    ASSERT_EQ(line.size(), 1U << 20U);

    EXPECT_TRUE(client.ask(line).ok());
    client.send(line + " \n");
    EXPECT_EQ(client.read_answer().kind(), "limit");
    EXPECT_TRUE(client.is_closed());
}

TEST_F(BadLines, ARefusedLineDoesNotTakeTheOneBeforeItAlong) {
    client.send(
        R"({"jsonrpc":"2.0","id":7,"method":"session.create","params":{"id":"s","source":"cli"}})"
        "\n" +
        std::string(2U << 20U, 'x'));

    // The error overtakes the create, which waits for the disk.
    std::vector<Answer> answers{client.read_answer(), client.read_answer()};
    EXPECT_TRUE(answers[0].ok() || answers[1].ok());
    EXPECT_TRUE(client.is_closed());
    Client other(home.socket());
    EXPECT_TRUE(other.call("session.show", R"({"session_id":"s"})").ok());
}

}  // namespace
}  // namespace knell::functional
