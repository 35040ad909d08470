#include "net/http/sse_framing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SseFraming, WritesWhatEventsReadGives) {
    Event event;
    event.seq = 42;
    event.type = EventType::session_start;
    event.session_id = SessionId("s1");
    event.title = "two\nlines";
    std::string object;
    wire::append_event(object, event, "node");

    std::string out;
    sse_framing.append_event(out, event, "node");

    EXPECT_EQ(out, "id: 42\nevent: session:start\ndata: " + object + "\n\n");
    EXPECT_EQ(out.find(sse_framing.end), out.size() - sse_framing.end.size());
}

TEST(SseFraming, ToldAGapAClientComesBackBehindIt) {
    std::string out;
    sse_framing.append_gap(out, 3, 9);
    EXPECT_EQ(out, "id: 9\nevent: gap\ndata: {\"from\":3,\"to\":9}\n\n");
}

TEST(SseFraming, SaysWhyNothingFollows) {
    std::string out;
    sse_framing.append_error(out, fail(ErrorCode::limit, "too\nmuch").error());
    EXPECT_THAT(out, StartsWith("event: problem\ndata: {"));
    EXPECT_THAT(out, HasSubstr(R"("status":429)"));
    EXPECT_THAT(out, EndsWith("}\n\n"));
    EXPECT_EQ(out.find(sse_framing.end), out.size() - sse_framing.end.size());
}

TEST(SseFraming, HasACommentThatIsAWholeMessage) {
    EXPECT_THAT(std::string(sse_comment), StartsWith(":"));
    EXPECT_THAT(std::string(sse_comment), EndsWith(std::string(sse_framing.end)));
}

}  // namespace
}  // namespace knell::net::http
