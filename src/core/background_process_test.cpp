#include "core/background_process.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(ProcessIds, AreToldFromOtherText) {
    const auto id = ProcessId::from_bits(0x0123456789abcdef);
    EXPECT_EQ(why_not_a_process_id(id.text()), std::nullopt);
    EXPECT_NE(id, ProcessId::from_bits(0x1123456789abcdef));
    for (const auto* text : {"", "p-", "p-1", "s-0000000000000", "p-00000000000000",
                             "p-000000000000u", "p-0000000000/00"}) {
        EXPECT_NE(why_not_a_process_id(text), std::nullopt) << text;
    }
}

TEST(ProcessIds, FollowFromTheWholeIdentity) {
    const ProcessIdentity process{12, 34, 56, "boot"};
    EXPECT_EQ(process_id_of(process), process_id_of(process));
    for (const auto& other :
         {ProcessIdentity{13, 34, 56, "boot"}, ProcessIdentity{12, 35, 56, "boot"},
          ProcessIdentity{12, 34, 57, "boot"}, ProcessIdentity{12, 34, 56, "b"}}) {
        EXPECT_NE(process_id_of(other), process_id_of(process));
    }
}

TEST(BackgroundProcesses, CountWhileTheyWorkOrAreVouchedFor) {
    const auto now = from_millis(1000);
    BackgroundProcess process;
    EXPECT_TRUE(counts_as_work(process, now));
    process.activity.activity = ProcessActivity::listening;
    EXPECT_FALSE(counts_as_work(process, now));
    process.vouched_until = from_millis(1001);
    EXPECT_TRUE(counts_as_work(process, now));
    process.vouched_until = now;
    EXPECT_FALSE(counts_as_work(process, now));
    process.vouched_until = from_millis(2000);
    process.exit.emplace();
    EXPECT_FALSE(counts_as_work(process, now));
}

TEST(BackgroundProcesses, CommandsAreOneLine) {
    EXPECT_EQ(command_text({"make", "-j2\n"}, 100), "make -j2?");
    EXPECT_EQ(command_text({"abcdefgh"}, 6), "abc…");
    EXPECT_EQ(command_text({"ä", "öö"}, 6), "ä …");
}

}  // namespace
}  // namespace knell
