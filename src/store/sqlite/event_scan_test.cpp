// A log that is damaged while it is read.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.hpp"
#include "testing/temp_folder.hpp"

namespace knell::sqlite {
namespace {

TEST(EventScan, DamageIsAnErrorAndNotTheEndOfTheLog) {
    const testing::TempFolder folder;
    const auto path = folder.path() + "/knell.db";
    constexpr Seq count = 2000;
    {
        auto store = open_store({.path = path});
        ASSERT_TRUE(store) << store.error().message;
        Batch batch;
        for (Seq seq = 1; seq <= count; ++seq) {
            Event event;
            event.seq = seq;
            event.type = EventType::gateway_startup;
            event.detail = std::string(500, 'x');
            batch.events.push_back(std::move(event));
        }
        ASSERT_TRUE((*store)->commit(batch));
    }
    // Opened before, so that the whole check at the start does not find it first.
    auto store = open_store({.path = path});
    ASSERT_TRUE(store) << store.error().message;
    auto reader = (*store)->open_reader();
    ASSERT_TRUE(reader);
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
        file.seekp(size / 4);
        file << std::string(static_cast<std::size_t>(size / 2), '\xff');
    }

    EventQuery all;
    all.limit = count;
    const auto page = (*reader)->events(all);

    ASSERT_FALSE(page) << page->events.size();
    EXPECT_EQ(page.error().code, ErrorCode::storage);
    EXPECT_THAT(page.error().message, ::testing::HasSubstr("is damaged"));
}

}  // namespace
}  // namespace knell::sqlite
