// The index is written behind the messages: wherever the disk fails in between, a search finds what
// was acknowledged, once.

#include <fmt/format.h>

#include "store/archive.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

Result<std::unique_ptr<Store>> open_on(const FaultyDisk& disk) {
    return sqlite::open_store({.path = "knell.db", .vfs = disk.vfs()});
}

/// Says one message after the other and has the index follow, until the disk fails; gives how many
/// were acknowledged.
int talk(Store& store, bool stop_at_failure) {
    int said = 0;
    JournalOnStore journal(store);
    if (!journal.one(create("a")) && stop_at_failure) return said;
    for (int number = 0; number < 12; ++number) {
        const bool is_said =
            journal.one(append("a", 1, {fmt::format("message number{}", said)}), at(number))
                .has_value();
        if (!is_said && stop_at_failure) return said;
        if (is_said) ++said;
        const bool is_indexed = archive_of(store).index_messages(2, 1000).has_value();
        if (!is_indexed && stop_at_failure) return said;
    }
    return said;
}

void expect_all_found(Store& store, int said, bool may_have_one_more) {
    const auto reader = *store.open_reader();
    for (const bool in_index : {false, true}) {
        if (in_index) {
            ASSERT_FALSE(archive_of(store).index_messages(SIZE_MAX, SIZE_MAX).value());
        }
        for (int number = 0; number < said; ++number) {
            SearchQuery query;
            query.terms = *parse_search_terms(fmt::format("number{}", number));
            query.limit = 10;
            const auto page = archive_of(*reader).search(query);
            ASSERT_TRUE(page) << page.error().message;
            EXPECT_EQ(page->messages.size(), 1U) << number;
        }
        SearchQuery all;
        all.terms = *parse_search_terms("message number*");
        all.limit = 100;
        const auto found =
            static_cast<int>(archive_of(*reader).search(all).value().messages.size());
        EXPECT_GE(found, said);
        EXPECT_LE(found, said + (may_have_one_more ? 1 : 0));
    }
}

TEST(SearchCrash, APowerCutAtEveryOperationLosesNothing) {
    std::uint64_t operation = 1;
    for (bool struck = true; struck; ++operation) {
        for (std::uint64_t seed = 0; seed < 2; ++seed) {
            SCOPED_TRACE(fmt::format("operation {}, seed {}", operation, seed));
            FaultyDisk disk;
            int said = 0;
            {
                auto store = open_on(disk);
                ASSERT_TRUE(store) << store.error().message;
                disk.fail_at(operation, FaultyDisk::Fault::power_cut);
                said = talk(**store, /*stop_at_failure=*/true);
            }
            struck = disk.fault_struck();
            disk.restore_power(seed);

            auto store = open_on(disk);
            ASSERT_TRUE(store) << store.error().message;
            expect_all_found(**store, said, /*may_have_one_more=*/true);
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(operation, 50U) << "the story is too short to mean anything";
}

TEST(SearchCrash, AnErrorAtEveryOperationCostsNothingButTime) {
    for (const auto fault : {FaultyDisk::Fault::io_error, FaultyDisk::Fault::full}) {
        std::uint64_t operation = 1;
        for (bool struck = true; struck; ++operation) {
            SCOPED_TRACE(fmt::format("operation {}", operation));
            FaultyDisk disk;
            auto store = open_on(disk);
            ASSERT_TRUE(store) << store.error().message;
            disk.fail_at(operation, fault, /*times=*/2);
            const int said = talk(**store, /*stop_at_failure=*/false);
            struck = disk.fault_struck();
            disk.heal();
            expect_all_found(**store, said, /*may_have_one_more=*/false);
            if (HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace knell::testing
