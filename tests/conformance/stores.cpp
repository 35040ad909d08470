#include "stores.hpp"

#include "testing/temp_folder.hpp"

namespace knell::testing {

namespace {

class MemoryUnderTest final : public StoreUnderTest {
  public:
    Store& store() override { return *store_; }
    void close() override {}  // it lives as long as the process
    void reopen() override {}

  private:
    std::unique_ptr<Store> store_ = make_memory_store();
};

template <typename Disk>
class SqliteUnderTest final : public StoreUnderTest {
  public:
    SqliteUnderTest() { reopen(); }
    Store& store() override { return *store_; }
    void close() override { store_.reset(); }
    void reopen() override {
        close();
        auto opened = sqlite::open_store(location_of(disk_));
        ASSERT_TRUE(opened) << opened.error().message;
        store_ = std::move(*opened);
    }

  private:
    static sqlite::Location location_of(const FaultyDisk& disk) {
        return {.path = "knell.db", .vfs = disk.vfs()};
    }
    static sqlite::Location location_of(const TempFolder& folder) {
        return {.path = folder.path() + "/knell.db", .vfs = {}};
    }

    Disk disk_;
    std::unique_ptr<Store> store_;
};

template <typename Disk>
std::vector<StoreKind> kinds_on() {
    return {{"memory", [] { return std::make_unique<MemoryUnderTest>(); }},
            {"sqlite", [] { return std::make_unique<SqliteUnderTest<Disk>>(); }}};
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
    static const auto kinds = kinds_on<FaultyDisk>();
    return kinds;
}

const std::vector<StoreKind>& store_kinds_on_disk() {
    static const auto kinds = kinds_on<TempFolder>();
    return kinds;
}

std::vector<std::string> StoreStory::listed(SessionQuery query) {
    if (query.limit == 0) query.limit = 100;
    const auto page = reader().list(query);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> ids;
    for (const auto& session : page->sessions) ids.push_back(session.id.text());
    return ids;
}

std::vector<Event> StoreStory::told(EventType type) {
    const auto page =
        reader().events({.after = 0, .limit = 100'000, .types = {type}, .session_id = {}});
    EXPECT_TRUE(page) << page.error().message;
    return page->events;
}

}  // namespace knell::testing
