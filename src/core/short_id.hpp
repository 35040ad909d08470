#pragma once

#include <string>

#include "core/ids.hpp"

namespace knell {

/// What stands for an id where there is little room: a beginning of it that belongs to no other
/// session, if `before` and `after` are its neighbours in the order of all ids (empty: none).
///
/// An id that was made here begins with the time at which it was: two of the same minute share
/// eight characters, so there are eight at least, and more where more are needed.  One that
/// somebody thought up says something, so it stays whole unless it is long.  Pure.
std::string short_id(const SessionId& id, const SessionId& before, const SessionId& after);

}  // namespace knell
