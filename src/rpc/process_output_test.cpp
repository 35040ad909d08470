// process.output: what is given of what a process has written.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/process_calls.hpp"
#include "wire/base64.hpp"

namespace knell::rpc {
namespace {

using ::testing::HasSubstr;

using ProcessOutput = testing::ProcessCalls;

TEST_F(ProcessOutput, OutputIsReadFromAnyPlaceAndGoesOn) {
    const auto id = started();
    auto& written = backend_.outputs.at(ProcessId(id));
    written = "one\ntwo\n";
    const auto all = about("process.output", id);
    EXPECT_EQ(
        wire::to_text(all),
        fmt::format(R"({{"process_id":"{}","output":"one\ntwo\n","encoding":"text","after":0,)"
                    R"("next":8,"state":"running","more":false}})",
                    id));
    written += "three\n";
    const auto more = about("process.output", id, R"(,"after":8)");
    EXPECT_EQ(more.at("output").as_string(), "three\n");
    EXPECT_EQ(more.at("next").as_int64(), 14);
    const auto part = about("process.output", id, R"(,"after":0,"limit":4)");
    EXPECT_EQ(part.at("output").as_string(), "one\n");
    EXPECT_EQ(part.at("more").as_bool(), true);
    EXPECT_EQ(about("process.output", id, R"(,"limit":6)").at("output").as_string(), "three\n")
        << "without `after`: the last of it";
    for (const auto* wrong : {R"(,"after":-1)", R"(,"limit":3)", R"(,"limit":1048577)",
                              R"(,"encoding":"")", R"(,"encoding":"hex")", R"(,"after":"0")"}) {
        EXPECT_TRUE(about("process.output", id, wrong).contains("code")) << wrong;
    }
}

TEST_F(ProcessOutput, OutputThatIsNoTextIsToldAsReplacementsOrBytes) {
    const auto id = started();
    backend_.outputs.at(ProcessId(id)) = std::string("a\0\xff\xc3", 4);
    const auto text = about("process.output", id);
    EXPECT_EQ(text.at("output").as_string(), std::string_view("a\0\xef\xbf\xbd", 5));
    EXPECT_EQ(text.at("next").as_int64(), 3) << "the rest of the letter may follow";
    const auto bytes = about("process.output", id, R"(,"encoding":"base64")");
    EXPECT_EQ(base64_decode(bytes.at("output").as_string()), std::string("a\0\xff\xc3", 4));
    EXPECT_EQ(bytes.at("next").as_int64(), 4);
    exit_of(id);
    const auto last = about("process.output", id, R"(,"after":3)");
    EXPECT_EQ(last.at("output").as_string(), "\xef\xbf\xbd") << "nothing will follow";
    EXPECT_EQ(last.at("state").as_string(), "exited");
}

TEST_F(ProcessOutput, OutputThatIsNoLongerKeptIsNamed) {
    const auto id = started();
    backend_.outputs.at(ProcessId(id)) = "0123456789";
    backend_.output_kept = 4;
    const auto page = about("process.output", id, R"(,"after":2)");
    EXPECT_EQ(page.at("output").as_string(), "6789");
    EXPECT_EQ(wire::to_text(page.at("gap")), R"({"from":2,"to":5})");
    EXPECT_EQ(page.at("after").as_int64(), 6);
    backend_.outputs.clear();
    EXPECT_EQ(kind_of_error(about("process.output", id)), "not_found");
}

TEST_F(ProcessOutput, TheTailOfTextBeginsWithALetter) {
    const auto id = started();
    backend_.outputs.at(ProcessId(id)) = "\xe2\x82\xac\xe2\x82\xac";  // two euro signs
    const auto tail = about("process.output", id, R"(,"limit":4)");
    EXPECT_EQ(tail.at("output").as_string(), "\xe2\x82\xac");
    EXPECT_EQ(tail.at("after").as_int64(), 3);
}

TEST_F(ProcessOutput, ATokenThatMayOnlyReadDoesNotSeeOutput) {
    const auto id = started();
    const auto params = fmt::format(R"({{"process_id":"{}"}})", id);
    Caller reader{.who = HttpClient{"127.0.0.1:1", Access::read_only}};
    EXPECT_TRUE(call("process.list", "{}", reader).contains("processes"));
    EXPECT_TRUE(call("process.show", params, reader).contains("process_id"));
    EXPECT_EQ(kind_of_error(call("process.output", params, reader)), "unauthorized");
    Caller full{.who = HttpClient{"127.0.0.1:1", Access::full}};
    EXPECT_TRUE(call("process.output", params, full).contains("output"));
    for (const auto* method :
         {"process.start", "process.register", "process.stop", "process.vouch"}) {
        const auto error = call(method, params, full);
        EXPECT_EQ(kind_of_error(error), "unauthorized") << method;
        EXPECT_THAT(std::string(wire::text_at(error, "message")), HasSubstr("allow_processes"));
    }
}

}  // namespace
}  // namespace knell::rpc
