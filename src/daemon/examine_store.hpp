#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "platform/lock_file.hpp"
#include "platform/paths.hpp"
#include "store/sqlite/store_check.hpp"

namespace knell {

/// All that `knell doctor` tells of the store of this home.
struct StoreExamination {
    std::string path;
    std::optional<LockHolder> daemon;  // that has the store
    sqlite::StoreCensus census;
    /// Of the open rows, in their order: what a look at the owner shows.
    enum class Verdict : std::uint8_t { alive, dead, unknown };
    struct Judged {
        Verdict verdict = Verdict::unknown;
        std::string evidence;
    };
    std::vector<Judged> judged;
};
inline constexpr std::array<std::string_view, 3> store_verdict_names{"alive", "dead", "unknown"};

/// Reads the store beside its daemon, or without one, and looks at every owner.  Changes nothing.
Result<StoreExamination> examine_store(const Paths& paths);

/// Makes right what follows from the rest, after a copy was made.  `blocked` while a daemon runs:
/// the lock of the store is taken.
Result<sqlite::StoreRepair> repair_store(const Paths& paths, WallTime now);

}  // namespace knell
