#include "store/sqlite/sqlite_error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace knell::sqlite {

namespace {

std::string explain(int primary, int extended, std::string_view path, std::string_view said) {
    switch (primary) {
        case SQLITE_FULL:
            return fmt::format(
                "the disk is full: nothing was written to {}; free some space, then "
                "try again",
                path);
        case SQLITE_READONLY:
            return fmt::format(
                "{} is read-only ({}): nothing was written; make it and its folder "
                "writable, then try again",
                path, said);
        case SQLITE_IOERR:
            return fmt::format(
                "the disk failed under {} ({}): nothing was acknowledged; check the "
                "disk{}, then try again",
                path, said,
                // A write that the limit refuses looks no different from here.
                extended == SQLITE_IOERR_WRITE ? " and the limit of file sizes (ulimit -f)" : "");
        case SQLITE_CANTOPEN:
            return fmt::format("cannot open {} ({}); check that its folder exists and is writable",
                               path, said);
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return fmt::format(
                "{} is damaged ({}); nothing was changed or deleted. Move it aside "
                "and restore a backup, or recover what is readable with: sqlite3 {} "
                ".recover",
                path, said, path);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return fmt::format("{} is locked by another program ({}); close it, then try again",
                               path, said);
        case SQLITE_CONSTRAINT:
            return fmt::format(
                "what was to be written does not fit what is in {} ({}): nothing was written. Let "
                "no other program write to it, then restart the daemon: knell down, knell up "
                "--detach",
                path, said);
        default:
            return fmt::format("the store {} failed: {}", path, said);
    }
}

}  // namespace

Error to_error(const SQLite::Exception& exception, std::string_view path) {
    const int primary = exception.getErrorCode() & 0xff;
    return {ErrorCode::storage,
            explain(primary, exception.getExtendedErrorCode(), path, exception.what()),
            {},
            {}};
}

}  // namespace knell::sqlite
