#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "functional/harness/client.hpp"
#include "functional/harness/daemon.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {

/// A daemon in a home of its own, and a client of it.
class WithDaemon : public testing::Test {
  protected:
    /// The id of a new session.
    std::string create(std::string_view params = R"({"source":"cli"})") {
        return text(client.must("session.create", params), "session_id");
    }
    Json show(std::string_view id) {
        return client.must("session.show", R"({"session_id":")" + std::string(id) + R"("})");
    }

    TempHome home;
    Daemon daemon{home};
    Client client{home.socket()};
};

/// Every event from the first to the last, in pages.
std::vector<Json> all_events(Client& client, std::size_t page = 5000);
/// The same without what the daemon says of itself: its coming and going, its notices.
std::vector<Json> session_events(Client& client);
/// The number of the newest event.
std::int64_t newest_seq(Client& client);
/// "session:start 1", "agent:start 1", … of one session, each with its generation.
std::vector<std::string> story_of(Client& client, std::string_view session);
/// The ids of a page of session.list.
std::vector<std::string> ids_of(const Json& page);

}  // namespace knell::functional
