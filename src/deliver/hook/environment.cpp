#include "deliver/hook/environment.hpp"

#include <fmt/format.h>

#include "platform/program_environment.hpp"
#include "wire/json.hpp"

namespace knell {

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
    add_variable(environment, "KNELL_SESSION_KEY", wire::text_at(event, "session_key"));
    add_variable(environment, "KNELL_REASON", wire::text_at(event, "reason"));
    return environment;
}

}  // namespace knell
