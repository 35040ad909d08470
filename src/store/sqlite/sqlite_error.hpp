#pragma once

#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// A library exception becomes an error that says what happened to which file and what to do.
Error to_error(const SQLite::Exception& exception, std::string_view path);

/// Runs `work` and turns what SQLiteCpp throws into an Error: no exception leaves this folder.
template <typename Work>
auto guarded(std::string_view path, Work&& work) -> decltype(work()) {
    try {
        return work();
    } catch (const SQLite::Exception& exception) {
        return std::unexpected(to_error(exception, path));
    }
}

}  // namespace knell::sqlite
