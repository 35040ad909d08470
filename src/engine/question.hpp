#pragma once

#include <variant>

#include "core/ids.hpp"
#include "engine/reply.hpp"

namespace knell {

/// What is asked of memory.  Changes nothing, so there is no decision: only an answer, in the order
/// of what is asked and done before and after it.

/// What is known in memory of one session, for `session.why`.
struct Inspect {
    using Reply = InspectReply;

    SessionId session_id;
};

/// Every process that owns open sessions, for a sweep.
struct Survey {
    using Reply = SurveyReply;

    Ordinal after = 0;  // name sessions that were opened after this one
};

using Question = std::variant<Inspect, Survey>;

}  // namespace knell
