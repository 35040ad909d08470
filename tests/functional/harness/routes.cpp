#include "functional/harness/routes.hpp"

#include <fmt/format.h>

#include "testing/store_edit.hpp"

namespace knell::functional {

std::string WithRoutes::route_params(std::string_view more, std::string_view to) {
    return fmt::format(R"({{"key":"{}","source":"gateway"{}{}}})", to, more.empty() ? "" : ",",
                       more);
}

void WithRoutes::restart_with(std::string_view yaml) {
    configure(yaml);
    daemon.restart();
    reconnect();
}

void WithRoutes::edit(const std::string& sql) const {
    testing::edit_store(home.file("knell.db"), sql);
}

void WithRoutes::let_pass(std::int64_t hours) {
    EXPECT_EQ(daemon.terminate(), 0);
    const auto millis = hours * 3'600'000;
    edit(
        fmt::format("UPDATE sessions SET last_interaction_at = "
                    "coalesce(last_interaction_at, last_activity_at) - {0}, last_activity_at = "
                    "last_activity_at - {0}, started_at = started_at - {0}, owner_since = "
                    "owner_since - {0} WHERE ended_at IS NULL; "
                    "UPDATE processes SET started_at = started_at - {0};",
                    millis));
    daemon.start();
    reconnect();
}

std::vector<Json> WithRoutes::told(std::string_view type, std::string_view of) {
    std::vector<Json> found;
    for (auto& event : all_events(client)) {
        if (text(event, "type") != type) continue;
        if (!of.empty() && text(event, "session_id") != of) continue;
        found.push_back(std::move(event));
    }
    return found;
}

}  // namespace knell::functional
