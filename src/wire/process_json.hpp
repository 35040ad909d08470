#pragma once

#include <optional>
#include <string_view>

#include "core/background_process.hpp"
#include "core/stop_state.hpp"
#include "wire/json.hpp"
#include "wire/process_fields.hpp"

namespace knell::wire {

/// What a row tells that is not on record with the process.
struct ProcessView {
    WallTime now;  // whether it counts may hang on the time
    SessionState session = SessionState::open;
    ProcessScope scope = ProcessScope::session;
    /// Of one that is asked for.  An event tells what is on record, which is all that it knows.
    std::optional<StopState> stop{};
};

/// By the task that was asked for; "": by none.
ProcessScope scope_of(const BackgroundProcess& process, std::string_view task_id);

/// The object `process` of the client contract: see wire/process_fields.hpp.
JsonObject to_json(const BackgroundProcess& process, const ProcessView& view);

}  // namespace knell::wire
