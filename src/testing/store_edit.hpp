#pragma once

#include <memory>
#include <string>

struct sqlite3;

namespace knell::testing {

/// Changes a store behind its back, as time or another host might have: `sql` is run on the file
/// while no daemon has it open.  Throws when that fails.
void edit_store(const std::string& path, const std::string& sql);

/// Keeps everybody else from writing to a store while it lives, as a backup tool might.  Throws
/// when that fails.
class HeldStore {
  public:
    explicit HeldStore(const std::string& path);

  private:
    std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace knell::testing
