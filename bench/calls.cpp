#include "calls.hpp"

#include <iterator>

#include <fmt/format.h>

#include "must.hpp"

namespace knell::bench {

namespace {

std::string_view session_id_in(std::string_view answer) {
    constexpr std::string_view name = R"("session_id":")";
    const auto start = answer.find(name);
    if (start == std::string_view::npos) throw Failed("an answer without session_id");
    answer.remove_prefix(start + name.size());
    return answer.substr(0, answer.find('"'));
}

}  // namespace

Load plain_creates(std::size_t calls) {
    return {
        .method = "session.create", .calls = calls, .params = [](std::size_t, std::string& out) {
            out += R"({"source":"bench","owner":{"lease_ttl_s":45}})";
        }};
}

Load lifelike_creates(std::size_t calls) {
    return {.method = "session.create",
            .calls = calls,
            .params = [](std::size_t number, std::string& out) {
                fmt::format_to(std::back_inserter(out),
                               R"({{"source":"gateway","platform":"telegram",)"
                               R"("key":"agent:main:telegram:dm:{}","user_id":"{}",)"
                               R"("title":"Refactor the billing importers",)"
                               R"("cwd":"/home/ada/projects/billing",)"
                               R"("owner":{{"lease_ttl_s":45}}}})",
                               number, number);
            }};
}

Load lease_creates(std::size_t calls, int ttl_s) {
    return {.method = "session.create",
            .calls = calls,
            .window = 64,
            .params = [ttl_s](std::size_t, std::string& out) {
                fmt::format_to(std::back_inserter(out),
                               R"({{"source":"bench","owner":{{"lease_ttl_s":{}}}}})", ttl_s);
            }};
}

Load beats(const std::vector<std::string>& ids, std::size_t calls) {
    return {.method = "session.heartbeat",
            .calls = calls,
            .window = 8,
            .params = [&ids](std::size_t number, std::string& out) {
                out += R"({"sessions":[)";
                for (std::size_t i = 0; i < beats_a_call; ++i) {
                    fmt::format_to(std::back_inserter(out),
                                   R"({}{{"session_id":"{}","generation":1}})", i == 0 ? "" : ",",
                                   ids[(number * beats_a_call + i) % ids.size()]);
                }
                out += "]}";
            }};
}

std::vector<std::string> create_sessions(LoadClient& client, Load load) {
    std::vector<std::string> ids(load.calls);
    load.answered = [&](std::size_t number, std::string_view answer) {
        ids[number] = session_id_in(answer);
    };
    client.run(load);
    return ids;
}

}  // namespace knell::bench
