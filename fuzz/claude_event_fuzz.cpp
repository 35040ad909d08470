#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "client/claude_event.hpp"
#include "core/limits.hpp"

// Whatever an agent, or somebody in its place, writes to a hook: it is refused with a reason, or
// fits into the calls that are made of it, and what goes back is JSON on one line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto event =
        knell::client::parse_claude_event({reinterpret_cast<const char*>(data), size});
    if (!event) {
        CHECK(!event.error().message.empty());
        return 0;
    }
    CHECK(!knell::why_not_an_id(event->session.text()));
    CHECK(event->tool.size() <= knell::limits::tool_name_bytes_max);
    for (const auto* line :
         {&event->cwd, &event->title, &event->model, &event->tool, &event->word}) {
        CHECK(knell::is_utf8(*line) && !knell::has_control_character(*line));
    }
    CHECK(knell::is_utf8(event->error));
    for (const auto& answer : {knell::client::claude_context(*event, event->error),
                               knell::client::claude_refusal(event->error)}) {
        CHECK(answer.find('\n') == std::string::npos);
        CHECK(knell::wire::parse_json(answer).has_value());
    }
    return 0;
}
