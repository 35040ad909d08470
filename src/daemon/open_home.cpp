#include "daemon/open_home.hpp"

#include <fmt/ranges.h>

#include "platform/directories.hpp"
#include "platform/file_kind.hpp"
#include "platform/log.hpp"
#include "platform/process_limits.hpp"
#include "store/sqlite/readable_text.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace knell {

Result<void> make_directories(const Paths& paths) {
    if (auto made = make_private_directories(paths.state_dir); !made) return made;
    // Before anything is written there: root may use the daemon of another user, not run it.
    if (auto ours = open_private_directory(paths.state_dir); !ours) {
        return std::unexpected(ours.error());
    }
    for (const auto* path : {&paths.runtime_dir, &paths.spool_dir, &paths.hooks_dir}) {
        if (auto made = make_private_directories(*path); !made) return made;
    }
    return {};
}

Result<std::unique_ptr<Store>> open_store(const Paths& paths) {
    const auto tell = [&](const std::string& copy) {
        log_info(
            "copied {} to {} before changing its schema; delete the copy once this version is "
            "known to work",
            paths.store_file, copy);
    };
    sqlite::on_unreadable_text([] {
        log_warn(
            "the store holds text that is not UTF-8, which another program must have written; it "
            "is told with U+FFFD in the place of what cannot be read");
    });
    auto store = sqlite::open_store({.path = paths.store_file, .vfs = {}, .on_backup = tell});
    if (store) return store;
    auto error = std::move(store.error());
    if (const auto why = why_no_file(paths.store_file); !why.empty()) error.message += "; " + why;
    if (const auto limits = describe_process_limits(/*with_priority=*/false); !limits.empty()) {
        error.message += fmt::format("; this daemon is limited: {}", fmt::join(limits, ", "));
    }
    return std::unexpected(std::move(error));
}

Result<Readers> open_readers(Store& store) {
    Readers readers;
    for (auto* reader : {&readers.answers, &readers.feeds, &readers.delivery}) {
        auto opened = store.open_reader();
        if (!opened) return std::unexpected(std::move(opened.error()));
        *reader = std::move(*opened);
    }
    return readers;
}

}  // namespace knell
