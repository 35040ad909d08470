#pragma once

#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/error.hpp"

namespace knell::hermes {

/// Runs `work` on somebody else's database and turns what the library throws into an Error: no
/// exception leaves this folder.
template <typename Work>
auto guarded(std::string_view path, Work&& work) -> decltype(work()) {
    try {
        return work();
    } catch (const SQLite::Exception& exception) {
        return fail(
            ErrorCode::storage,
            fmt::format("cannot read {} ({}); nothing of it was touched. Is it the state.db "
                        "of Hermes, and whole?",
                        path, exception.what()));
    }
}

}  // namespace knell::hermes
