#include "store/archive.hpp"

#include "base/check.hpp"

namespace knell {

ArchiveReader& archive_of(Reader& reader) {
    auto* archive = dynamic_cast<ArchiveReader*>(&reader);
    CHECK(archive != nullptr);
    return *archive;
}

ArchiveStore& archive_of(Store& store) {
    auto* archive = dynamic_cast<ArchiveStore*>(&store);
    CHECK(archive != nullptr);
    return *archive;
}

}  // namespace knell
