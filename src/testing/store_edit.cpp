#include "testing/store_edit.hpp"

#include <memory>
#include <stdexcept>

#include <sqlite3.h>

namespace knell::testing {

void edit_store(const std::string& path, const std::string& sql) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
    if (status != SQLITE_OK) throw std::runtime_error("cannot open " + path);
    if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(database.get()));
    }
}

}  // namespace knell::testing
