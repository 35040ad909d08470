#include "stores.hpp"

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell::testing {

namespace {

constexpr int refused_with_an_error = 3;

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

void commit_and_exit(Store& store, const Batch& batch) {
    constexpr rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    _exit(store.commit(batch) ? 0 : refused_with_an_error);
}

bool was_refused(int status) {
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT
                               : WEXITSTATUS(status) == refused_with_an_error;
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
