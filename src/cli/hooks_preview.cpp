#include "cli/hooks_preview.hpp"

#include <fmt/format.h>

namespace knell::cli {

namespace {

using wire::array_at;
using wire::int_at;
using wire::text_at;

const JsonObject* row_of(const std::string& name, const JsonObject& list) {
    const auto* hooks = array_at(list, "hooks");
    if (hooks == nullptr) return nullptr;
    for (const auto& hook : *hooks) {
        const auto* row = hook.if_object();
        if (row != nullptr && text_at(*row, "name") == name) return row;
    }
    return nullptr;
}

std::unexpected<Error> nobody(const std::string& name, const JsonObject& list) {
    const auto* problems = array_at(list, "problems");
    for (const auto& item : problems == nullptr ? JsonArray{} : *problems) {
        const auto* problem = item.if_object();
        if (problem == nullptr || text_at(*problem, "name") != name) continue;
        return fail(ErrorCode::not_found,
                    fmt::format("{} cannot be used: {}", name, text_at(*problem, "message")));
    }
    return fail(ErrorCode::not_found,
                fmt::format("no hook or webhook {}; `knell hooks ls` lists them", name));
}

std::string resend(std::int64_t waiting, std::int64_t dead) {
    return fmt::format("send again now: {} events that wait, {} dead letters", waiting, dead);
}

std::string resend_all(const JsonObject& list) {
    std::int64_t waiting = 0;
    std::int64_t dead = 0;
    const auto* hooks = array_at(list, "hooks");
    for (const auto& hook : hooks == nullptr ? JsonArray{} : *hooks) {
        const auto* row = hook.if_object();
        if (row == nullptr || text_at(*row, "state") == "absent") continue;
        waiting += int_at(*row, "waiting");
        dead += int_at(*row, "dead");
    }
    return resend(waiting, dead);
}

std::string try_out(const std::string& name, const JsonObject& row) {
    if (text_at(row, "kind") == "webhook") {
        return fmt::format("send {} an event that never happened, at {}", name,
                           text_at(row, "url"));
    }
    return fmt::format("run {} in {} with an event that never happened", name,
                       text_at(row, "directory"));
}

}  // namespace

Result<std::string> hooks_preview(const std::string& action, const std::string& name,
                                  const JsonObject& list) {
    if (action == "retry" && name.empty()) return resend_all(list);
    const auto* row = row_of(name, list);
    if (row == nullptr) return nobody(name, list);
    const auto state = text_at(*row, "state");
    const auto waiting = int_at(*row, "waiting");
    const auto dead = int_at(*row, "dead");
    if (action == "forget") {
        if (state == "absent") {
            return fmt::format(
                "forget {}: its place at event {}, {} events that wait, {} dead "
                "letters",
                name, int_at(*row, "cursor"), waiting, dead);
        }
        return fail(ErrorCode::blocked,
                    fmt::format("{} is still there: remove its directory, or its entry in the "
                                "config, first",
                                name));
    }
    if (state == "absent") {
        return fail(ErrorCode::not_found,
                    fmt::format("the directory or config entry of {} is gone", name));
    }
    if (action == "retry") return resend(waiting, dead);
    if (action == "test") return try_out(name, *row);
    const bool is_paused = state == "paused";
    if (action == "pause") {
        return is_paused ? fmt::format("change nothing: {} is paused already", name)
                         : fmt::format("pause {}, which is {}, at event {}", name, state,
                                       int_at(*row, "cursor"));
    }
    return is_paused || state == "disabled"
               ? fmt::format("resume {}, which is {}, after event {}; {} events are behind that",
                             name, state, int_at(*row, "cursor"), int_at(*row, "lag"))
               : fmt::format("change nothing: {} is {} already", name, state);
}

}  // namespace knell::cli
