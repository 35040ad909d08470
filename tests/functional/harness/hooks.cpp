#include "functional/harness/hooks.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace knell::functional {

void write_hook(const TempHome& home, const std::string& name, std::string_view script,
                std::string_view events, std::string_view more) {
    // Beside hooks/ first: a directory that is moved in is there all at once.
    const auto draft = home.file("draft-" + name);
    std::filesystem::create_directories(home.file("hooks"));
    std::filesystem::create_directory(draft);
    write_file(draft + "/HOOK.yaml",
               fmt::format("name: {}\nevents: [{}]\n{}\n", name, events, more));
    write_file(draft + "/run", fmt::format("#!/bin/sh\n{}\n", script));
    std::filesystem::permissions(draft + "/run", std::filesystem::perms::owner_all);
    std::filesystem::rename(draft, home.file("hooks/" + name));
}

std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    if (!std::filesystem::exists(path)) return lines;
    const auto text = read_file(path);
    for (std::size_t at = 0;;) {
        const auto end = text.find('\n', at);
        if (end == std::string::npos) return lines;
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
}

void WithHooks::add_listener(const std::string& name, std::string_view events) {
    write_hook(home, name, "cat >> heard", events);
    wait_until_known(name);
}

std::vector<Json> WithHooks::heard(const std::string& name) const {
    std::vector<Json> events;
    for (const auto& line : lines_of(home.file("hooks/" + name + "/heard"))) {
        events.push_back(parse(line));
    }
    return events;
}

std::vector<std::string> WithHooks::heard_ids(const std::string& name) const {
    std::vector<std::string> ids;
    for (const auto& event : heard(name)) ids.push_back(text(event, "id"));
    return ids;
}

Json WithHooks::row(const std::string& name) {
    for (const auto& hook : array(client.must("hooks.list"), "hooks")) {
        if (text(hook, "name") == name) return hook;
    }
    return nullptr;
}

void WithHooks::wait_until_known(const std::string& name) {
    until([&] { return !row(name).is_null(); }, "the hook to be picked up");
}

void WithHooks::wait_until_heard(const std::string& name, std::string_view id) {
    until(
        [&] {
            const auto ids = heard_ids(name);
            return std::ranges::find(ids, id) != ids.end();
        },
        "the hook to hear");
}

void WithHooks::wait_for_state(const std::string& name, std::string_view state) {
    until([&] { return text(row(name), "state") == state; }, "the state of the hook");
}

void WithHooks::live_and_die(const std::string& id) {
    create(fmt::format(
        R"({{"id":"{}","source":"cli","key":"k:{}","platform":"tests","user_id":"u1"}})", id, id));
    client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
}

}  // namespace knell::functional
