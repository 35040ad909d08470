#include "net/http/text_frame.hpp"

#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

/// What stands before a message of so many bytes.
std::string head_of(std::size_t size) {
    std::string frame = "before";
    const std::string message(size, 'm');
    append_text_frame(frame, message);
    EXPECT_TRUE(frame.starts_with("before"));
    EXPECT_TRUE(frame.ends_with(message));
    return frame.substr(6, frame.size() - 6 - size);
}

TEST(TextFrame, SaysHowLongItIsInAsFewBytesAsItCan) {
    using namespace std::string_literals;
    EXPECT_EQ(head_of(0), "\x81\x00"s);
    EXPECT_EQ(head_of(125), "\x81\x7d"s);
    EXPECT_EQ(head_of(126), "\x81\x7e\x00\x7e"s);
    EXPECT_EQ(head_of(65'535), "\x81\x7e\xff\xff"s);
    EXPECT_EQ(head_of(65'536), "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"s);
}

}  // namespace
}  // namespace knell::net::http
