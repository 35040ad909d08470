#pragma once

#include <functional>
#include <string>

#include "rpc/backend.hpp"

namespace knell {

/// Takes in what `knell run` wrote down while no daemon could be reached: one file a session, one
/// call a line.  A file is deleted once all its calls are durable; one that cannot be understood is
/// set aside as *.bad, never deleted.
///
/// A step: looks once, submits what it finds, returns.  Answers come later, on the backend's
/// thread.
void deliver_spool(const std::string& spool_dir, rpc::Backend& backend);

}  // namespace knell
