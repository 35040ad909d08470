#pragma once

#include <memory>
#include <string>

#include "store/store.hpp"

namespace knell::sqlite {

/// Where the store lives.  `vfs` names a SQLite file layer, for tests that break the disk.
struct Location {
    std::string path;
    std::string vfs;
};

/// Opens the store, creating or migrating it.  Refuses, and changes nothing, when the file is
/// damaged, is not a knell store, or has a newer schema than this program.
///
/// The one connection that writes also does every checkpoint: SQLite before 3.51.3 can lose a
/// commit when two connections write or checkpoint at once.
Result<std::unique_ptr<Store>> open_store(const Location& location);

}  // namespace knell::sqlite
