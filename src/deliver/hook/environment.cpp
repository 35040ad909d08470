#include "deliver/hook/environment.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "platform/program_environment.hpp"
#include "wire/json.hpp"

namespace knell {

namespace {

/// What of an event a command can be told by itself; the whole is on its standard input.
struct Told {
    const char* variable;
    std::string_view field;
};
constexpr std::array told{
    Told{"KNELL_SESSION_KEY", "session_key"},
    Told{"KNELL_REASON", "reason"},
    Told{"KNELL_DETAIL", "detail"},
    Told{"KNELL_TITLE", "title"},
    Told{"KNELL_CWD", "cwd"},
    Told{"KNELL_COMMAND", "command"},
    Told{"KNELL_HOST", "host"},
};

}  // namespace

Result<std::vector<std::string>> hook_environment(const char* const* ours,
                                                  const RenderedEvent& rendered) {
    auto base = base_environment(ours);
    if (!base) return base;
    auto environment = std::move(*base);
    add_variable(environment, "KNELL_EVENT", rendered.type);
    add_variable(environment, "KNELL_EVENT_ID", rendered.id);
    add_variable(environment, "KNELL_EVENT_SEQ", fmt::to_string(rendered.seq));
    add_variable(environment, "KNELL_SESSION_ID", rendered.session_id);
    const auto parsed = wire::parse_json(rendered.json);
    if (!parsed || !parsed->is_object()) return environment;
    const auto& event = parsed->as_object();
    for (const auto& [variable, field] : told) {
        add_variable(environment, variable, wire::text_at(event, field));
    }
    if (const auto pid = wire::int_at(event, "pid"); pid > 0) {
        add_variable(environment, "KNELL_PID", fmt::to_string(pid));
    }
    return environment;
}

}  // namespace knell
