#pragma once

#include <functional>
#include <optional>
#include <string>

#include "promises.hpp"

namespace knell::sim {

/// What can be said from outside of whether a reset is due, and what holds it.  Set clocks leave
/// several truths: what may be is not what must be.

/// By policy, and for that reason if one is named.
bool may_be_due(const Conversation& one, std::optional<ResetKind> kind, const Scene& scene);
/// Whatever the daemon has heard, and whichever clock it goes by.
bool must_be_due(const Conversation& one, const Scene& scene);

enum class Asks : std::uint8_t { policy, person };
/// A background process of that session holds a reset back: surely, or as far as one can tell.
Belief holds(const std::string& id, const KnownProcess& process, const Conversation& one, Asks who,
             const Scene& scene);

/// Goes through what a step told, with what was known before each event.
std::string walk(const Scene& scene,
                 const std::function<std::string(const Event&, const Conversations&)>& judge);

}  // namespace knell::sim
