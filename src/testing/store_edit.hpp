#pragma once

#include <string>

namespace knell::testing {

/// Changes a store behind its back, as time or another host might have: `sql` is run on the file
/// while no daemon has it open.  Throws when that fails.
void edit_store(const std::string& path, const std::string& sql);

}  // namespace knell::testing
