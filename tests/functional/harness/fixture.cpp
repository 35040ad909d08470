#include "functional/harness/fixture.hpp"

#include <fmt/format.h>

namespace knell::functional {

std::vector<Json> all_events(Client& client, std::size_t page) {
    std::vector<Json> events;
    for (std::int64_t after = 0;;) {
        const auto result =
            client.must("events.read", fmt::format(R"({{"after":{},"limit":{}}})", after, page));
        const auto& found = array(result, "events");
        if (found.empty()) return events;
        events.insert(events.end(), found.begin(), found.end());
        after = number(result, "next");
    }
}

std::vector<Json> session_events(Client& client) {
    auto events = all_events(client);
    std::erase_if(events, [](const Json& event) { return text(event, "session_id").empty(); });
    return events;
}

std::int64_t newest_seq(Client& client) {
    return number(client.must("node.status"), "events.last_seq");
}

std::vector<std::string> story_of(Client& client, std::string_view session) {
    const auto result =
        client.must("events.read", fmt::format(R"({{"session_id":"{}"}})", session));
    std::vector<std::string> story;
    for (const auto& event : array(result, "events")) {
        story.push_back(fmt::format("{} {}", text(event, "type"), number(event, "generation")));
    }
    return story;
}

std::vector<std::string> ids_of(const Json& page) {
    std::vector<std::string> ids;
    for (const auto& session : array(page, "sessions")) ids.push_back(text(session, "id"));
    return ids;
}

}  // namespace knell::functional
