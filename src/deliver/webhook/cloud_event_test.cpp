#include "deliver/webhook/cloud_event.hpp"

#include <gtest/gtest.h>

#include "wire/json.hpp"

namespace knell {
namespace {

RenderedEvent an_end() {
    return {.seq = 42,
            .id = "s1_1_end",
            .type = "session:end",
            .time = "2026-11-15T03:52:25.001Z",
            .session_id = "s1",
            .json = R"({"seq":42,"title":"caf\u00e9","n":1.0})"};
}

TEST(CloudEvent, HoldsTheAttributesAndTheEventAsItWas) {
    EXPECT_EQ(cloud_event(an_end(), "node7"),
              R"({"specversion":"1.0","id":"s1_1_end","source":"/knell/node7",)"
              R"("type":"dev.knell.session.end.v1","subject":"s1",)"
              R"("time":"2026-11-15T03:52:25.001Z","datacontenttype":"application/json",)"
              R"("sequence":"42","data":{"seq":42,"title":"caf\u00e9","n":1.0}})");
}

TEST(CloudEvent, NamesTypesWithDots) {
    const auto type_of = [](std::string type) {
        auto rendered = an_end();
        rendered.type = std::move(type);
        const auto event = wire::parse_json(cloud_event(rendered, "n"));
        return std::string(wire::text_at(event->as_object(), "type"));
    };
    EXPECT_EQ(type_of("session:reset_deferred"), "dev.knell.session.reset_deferred.v1");
    EXPECT_EQ(type_of("notice"), "dev.knell.notice.v1");
}

TEST(CloudEvent, ThatIsAboutTheDaemonHasNoSubject) {
    auto rendered = an_end();
    rendered.session_id.clear();

    const auto event = wire::parse_json(cloud_event(rendered, "n"));

    ASSERT_TRUE(event);
    EXPECT_FALSE(event->as_object().contains("subject"));
}

TEST(CloudEvent, ItsSourceIsAUriReferenceWhateverTheNodeIsCalled) {
    const auto event = wire::parse_json(cloud_event(an_end(), "my node/\"\xc3\xa9"));

    ASSERT_TRUE(event);
    EXPECT_EQ(wire::text_at(event->as_object(), "source"), "/knell/my%20node%2F%22%C3%A9");
}

}  // namespace
}  // namespace knell
