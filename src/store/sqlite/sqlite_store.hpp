#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/store.hpp"

namespace knell::sqlite {

/// Where the store lives.  `vfs` names a SQLite file layer, for tests that break the disk.
struct Location {
    std::string path;
    std::string vfs;
    /// Told the path of the copy that was made before the store was migrated.
    std::function<void(const std::string& copy)> on_backup{};
};

/// Opens the store, creating it, or migrating it after a copy was made (store/sqlite/backup).
/// Refuses, and changes nothing, when the file is damaged, is not a knell store, or has a newer
/// schema than this program.
///
/// The one connection that writes also does every checkpoint: SQLite before 3.51.3 can lose a
/// commit when two connections write or checkpoint at once.
Result<std::unique_ptr<Store>> open_store(const Location& location);

}  // namespace knell::sqlite
