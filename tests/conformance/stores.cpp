#include "stores.hpp"

namespace knell::testing {

namespace {

class MemoryUnderTest final : public StoreUnderTest {
  public:
    Store& store() override { return *store_; }
    void reopen() override {}  // it lives as long as the process

  private:
    std::unique_ptr<Store> store_ = make_memory_store();
};

class SqliteUnderTest final : public StoreUnderTest {
  public:
    SqliteUnderTest() { open(); }
    Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        open();
    }

  private:
    void open() {
        auto opened = sqlite::open_store({.path = "knell.db", .vfs = disk_.vfs()});
        ASSERT_TRUE(opened) << opened.error().message;
        store_ = std::move(*opened);
    }

    FaultyDisk disk_;
    std::unique_ptr<Store> store_;
};

}  // namespace

const std::vector<StoreKind>& store_kinds() {
    static const std::vector<StoreKind> kinds{
        {"memory", [] { return std::make_unique<MemoryUnderTest>(); }},
        {"sqlite", [] { return std::make_unique<SqliteUnderTest>(); }},
    };
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
