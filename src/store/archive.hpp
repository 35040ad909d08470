#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.hpp"
#include "store/search.hpp"
#include "store/stats.hpp"
#include "store/store.hpp"

namespace knell {

/// What every reader can do besides: look at much of what is kept at once.  Apart from Reader, so
/// that those who need one session at a time need not know of it.
class ArchiveReader {
  public:
    virtual ~ArchiveReader() = default;
    /// Whatever was committed before is found, in the index or not.
    virtual Result<SearchPage> search(const SearchQuery& query) = 0;
    /// What happened since the full hour before `since`.
    virtual Result<Stats> stats(WallTime since) = 0;
    /// How many sessions `list` leaves out of all pages because they are folded away, `most` at
    /// most.
    virtual Result<std::int64_t> count_folded(const SessionQuery& query, std::int64_t most) = 0;
};

/// What every store can do besides, on the writer's thread.
class ArchiveStore {
  public:
    virtual ~ArchiveStore() = default;
    /// Puts the oldest messages that are not in the search index into it, until these are so many
    /// or so long, and takes those out that were deleted.  A search finds what is in neither: it
    /// only takes longer.  Gives whether more is left to do.
    virtual Result<bool> index_messages(std::size_t messages_max, std::size_t bytes_max) = 0;
};

/// The same object.
ArchiveReader& archive_of(Reader& reader);
ArchiveStore& archive_of(Store& store);

/// Who names a source or a key asks for it, folded or not.
inline bool folds(const SessionQuery& query) {
    return !query.all && query.source.empty() && query.key.empty();
}

}  // namespace knell
