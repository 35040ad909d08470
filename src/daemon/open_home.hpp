#pragma once

#include <memory>

#include "core/error.hpp"
#include "platform/paths.hpp"
#include "store/store.hpp"

namespace knell {

/// Makes the directories of a home where they are missing.  An error when the home is not ours.
Result<void> make_directories(const Paths& paths);

/// Opens the store of a home, or says why not with what the store itself cannot know: what stands
/// in its place, what the system denies this process.
Result<std::unique_ptr<Store>> open_store(const Paths& paths);

/// A reader for each thread that reads.
struct Readers {
    std::unique_ptr<Reader> answers;
    std::unique_ptr<Reader> feeds;
    std::unique_ptr<Reader> delivery;
};
Result<Readers> open_readers(Store& store);

}  // namespace knell
