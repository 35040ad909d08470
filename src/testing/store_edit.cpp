#include "testing/store_edit.hpp"

#include <memory>
#include <stdexcept>

#include <sqlite3.h>

#include "store/sqlite/fts_words.hpp"

namespace knell::testing {

namespace {

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

Database open_database(const std::string& path) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    Database database(opened, sqlite3_close);
    if (status != SQLITE_OK) throw std::runtime_error("cannot open " + path);
    if (sqlite::add_search_functions(opened) != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(opened));
    }
    return database;
}

void run(const Database& database, const std::string& sql) {
    if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(database.get()));
    }
}

}  // namespace

void edit_store(const std::string& path, const std::string& sql) {
    run(open_database(path), sql);
}

HeldStore::HeldStore(const std::string& path) : database_(open_database(path)) {
    run(database_, "BEGIN IMMEDIATE");
}

}  // namespace knell::testing
