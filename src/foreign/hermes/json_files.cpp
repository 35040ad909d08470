#include "foreign/hermes/json_files.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "wire/json.hpp"

namespace knell::hermes {

namespace {

using wire::text_at;

std::unexpected<Error> unreadable(const std::string& path, std::string_view why) {
    return fail(ErrorCode::parse_error, fmt::format("{} cannot be understood: {}", path, why));
}

std::optional<double> number_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_double()) return value->get_double();
    if (value->is_int64()) return static_cast<double>(value->get_int64());
    if (value->is_uint64()) return static_cast<double>(value->get_uint64());
    return std::nullopt;
}

pid_t pid_at(const JsonObject& object) {
    const auto pid = wire::int_at(object, "pid");
    return pid > 0 && pid <= INT32_MAX ? static_cast<pid_t>(pid) : 0;
}

Result<Json> parse(std::string_view text, const std::string& path) {
    auto parsed = wire::parse_json(text);
    if (!parsed) return unreadable(path, parsed.error().message);
    return parsed;
}

}  // namespace

Result<std::vector<RoutingEntry>> parse_sessions_json(std::string_view text,
                                                      const std::string& path) {
    const auto parsed = parse(text, path);
    if (!parsed) return std::unexpected(parsed.error());
    const auto* all = parsed->if_object();
    if (all == nullptr) return unreadable(path, "it holds no object");
    std::vector<RoutingEntry> entries;
    for (const auto& [key, value] : *all) {
        const auto* entry = value.if_object();
        // "_README" and the like are for people.
        if (entry == nullptr || key.starts_with('_')) continue;
        entries.push_back({.key = std::string(key),
                           .session_id = std::string(text_at(*entry, "session_id")),
                           .finalized = wire::bool_at(*entry, "expiry_finalized") ||
                                        wire::bool_at(*entry, "memory_flushed"),
                           .suspended = wire::bool_at(*entry, "suspended")});
    }
    return entries;
}

Result<std::vector<ProcessEntry>> parse_processes_json(std::string_view text,
                                                       const std::string& path) {
    const auto parsed = parse(text, path);
    if (!parsed) return std::unexpected(parsed.error());
    const auto* all = parsed->if_array();
    if (all == nullptr) return unreadable(path, "it holds no list");
    std::vector<ProcessEntry> entries;
    for (const auto& value : *all) {
        const auto* entry = value.if_object();
        if (entry == nullptr || pid_at(*entry) == 0) continue;
        ProcessEntry process{
            .id = std::string(text_at(*entry, "session_id")),
            .command = std::string(text_at(*entry, "command")),
            .pid = pid_at(*entry),
            .is_on_host = text_at(*entry, "pid_scope") != "sandbox",
            .start_ticks = {},
            .started_at = {},
            .session_key = std::string(text_at(*entry, "session_key")),
            .parent_session_id = std::string(text_at(*entry, "parent_session_id"))};
        if (const auto ticks = wire::int_at(*entry, "host_start_time"); ticks > 0) {
            process.start_ticks = static_cast<std::uint64_t>(ticks);
        }
        const auto seconds = number_at(*entry, "started_at");
        if (seconds && *seconds > 0 && *seconds < 1e11) {
            process.started_at = from_millis(std::llround(*seconds * 1000));
        }
        entries.push_back(std::move(process));
    }
    return entries;
}

Result<std::vector<OwnerEntry>> parse_active_sessions(std::string_view text,
                                                      const std::string& path) {
    const auto parsed = parse(text, path);
    if (!parsed) return std::unexpected(parsed.error());
    const auto* object = parsed->if_object();
    const auto* all = object == nullptr ? nullptr : wire::array_at(*object, "entries");
    if (all == nullptr) return unreadable(path, "it has no \"entries\"");
    std::vector<OwnerEntry> entries;
    for (const auto& value : *all) {
        const auto* entry = value.if_object();
        if (entry == nullptr || pid_at(*entry) == 0) continue;
        entries.push_back({.pid = pid_at(*entry),
                           .started = number_at(*entry, "process_start_time"),
                           .session_id = std::string(text_at(*entry, "session_id")),
                           .host = "",
                           .where = "active_sessions.json"});
    }
    return entries;
}

Result<std::vector<OwnerEntry>> parse_gateway_pid(std::string_view text, const std::string& path) {
    const auto parsed = parse(trimmed(text), path);
    if (!parsed) return std::unexpected(parsed.error());
    OwnerEntry gateway{
        .pid = 0, .started = {}, .session_id = "", .host = "", .where = "gateway.pid"};
    if (const auto* number = parsed->if_int64()) {
        gateway.pid = *number > 0 && *number <= INT32_MAX ? static_cast<pid_t>(*number) : 0;
    } else if (const auto* object = parsed->if_object()) {
        gateway.pid = pid_at(*object);
        gateway.started = number_at(*object, "start_time");
    }
    if (gateway.pid == 0) return unreadable(path, "it names no process");
    return std::vector{gateway};
}

}  // namespace knell::hermes
