#include "client/base64.hpp"

#include <gtest/gtest.h>

namespace knell::client {
namespace {

TEST(BytesOfBase64, AreThoseOfRfc4648) {
    EXPECT_EQ(bytes_of_base64(""), "");
    EXPECT_EQ(bytes_of_base64("Zg=="), "f");
    EXPECT_EQ(bytes_of_base64("Zm8="), "fo");
    EXPECT_EQ(bytes_of_base64("Zm9v"), "foo");
    EXPECT_EQ(bytes_of_base64("Zm9vYmFy"), "foobar");
    EXPECT_EQ(bytes_of_base64("AP8bCg=="), std::string("\0\xff\x1b\n", 4));
    EXPECT_EQ(bytes_of_base64("+/+/"), "\xfb\xff\xbf");
}

TEST(BytesOfBase64, RefusesWhatIsNone) {
    for (const auto* text : {"Z", "Zg=", "Zg", "Zh==", "Zm9=", "Zm 9", "Z===", "====", "Zm9v\n",
                             "Zg==Zg==", "Zm9\xff"}) {
        EXPECT_EQ(bytes_of_base64(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace knell::client
