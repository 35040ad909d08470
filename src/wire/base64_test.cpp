#include "wire/base64.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(Base64, WritesTheVectorsOfTheStandard) {
    EXPECT_EQ(base64_encode(""), "");
    EXPECT_EQ(base64_encode("f"), "Zg==");
    EXPECT_EQ(base64_encode("fo"), "Zm8=");
    EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64_encode(std::string("\0\xff\xfe", 3)), "AP/+");
}

TEST(Base64, ReadsWhatItWrites) {
    std::string bytes;
    for (int size = 0; size < 70; ++size) {
        EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes) << size;
        bytes.push_back(static_cast<char>(size * 37));
    }
}

TEST(Base64, RefusesEverythingElse) {
    for (const auto* text : {"Zg", "Zg=", "Zg===", "Z", "Zh==", "Zg==\n", " Zg==", "Zm9v Zm9v",
                             "Zm9v\nZm9v", "Zg==Zg==", "====", "=", "Zm-_", "Zm9\x80"}) {
        EXPECT_FALSE(base64_decode(text)) << text;
    }
}

}  // namespace
}  // namespace knell
