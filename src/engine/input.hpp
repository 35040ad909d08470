#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/command.hpp"
#include "engine/observation.hpp"
#include "engine/question.hpp"
#include "store/delivery.hpp"

namespace knell {

/// How far subscribers are, and what they could not be given yet.  Written with the rest; nothing
/// is decided about it.
struct SaveDeliveries {
    std::vector<DeliveryChange> changes;
};

/// All that comes to the journal, in one order.
using Input = std::variant<Command, Observation, Question, SaveDeliveries>;

/// The command, observation or question that it is, or nullptr when it is another.
template <typename Kind>
const Kind* as(const Input& input) {
    const auto inside = [&]<typename... Kinds>(const std::variant<Kinds...>* one) -> const Kind* {
        if constexpr ((std::is_same_v<Kind, Kinds> || ...)) {
            return std::get_if<Kind>(one);
        } else {
            return nullptr;
        }
    };
    if (const auto* command = std::get_if<Command>(&input)) return inside(command);
    if (const auto* observation = std::get_if<Observation>(&input)) return inside(observation);
    if (const auto* question = std::get_if<Question>(&input)) return inside(question);
    return nullptr;
}

/// The session it is about, or nullptr when it is not about one.
const SessionId* subject_of(const Input& input);
/// The key it is about, where it names a session by that.
const std::string* key_of(const Input& input);
/// What must be read from the store before it can be decided.
enum class Needs : std::uint8_t {
    nothing,  // it is about no session, or one that is known to be new
    past,     // the row of its subject, unless that is open: then memory has what matters
    row,      // the row of its subject, open or not, as the last transaction left it
    tip,      // the newest session of its key, at the end of its lineage, unless one is open
};
Needs needs_of(const Input& input);

}  // namespace knell
