#include "deliver/webhook/secret.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "testing/temp_folder.hpp"
#include "wire/base64.hpp"

namespace knell {
namespace {

class WebhookSecret : public ::testing::Test {
  protected:
    SecretPlace file_with(const std::string& text, mode_t mode = 0600) const {
        const auto path = folder / "secret";
        std::ofstream(path) << text;
        chmod(path.c_str(), mode);
        return {.file = path.string()};
    }

    const testing::TempFolder temp;
    const std::filesystem::path folder = temp.path();
};

std::string secret_of(std::size_t bytes) {
    return "whsec_" + base64_encode(std::string(bytes, 'x'));
}

std::string error_of(const Result<std::string>& result) {
    return result ? "no error" : result.error().message;
}

TEST_F(WebhookSecret, IsReadFromAFileWithoutItsLineEnd) {
    EXPECT_EQ(read_signing_key(file_with(secret_of(24))), std::string(24, 'x'));
    EXPECT_EQ(read_signing_key(file_with(secret_of(64) + "\r\n\n")), std::string(64, 'x'));
    EXPECT_EQ(read_secret(file_with("whsec_a b \n", 0400)), "whsec_a b");
}

TEST_F(WebhookSecret, IsReadFromTheEnvironment) {
    setenv("KNELL_TEST_SECRET", secret_of(32).c_str(), 1);
    EXPECT_EQ(read_signing_key({.variable = "KNELL_TEST_SECRET"}), std::string(32, 'x'));
    unsetenv("KNELL_TEST_SECRET");
    EXPECT_EQ(error_of(read_secret({.variable = "KNELL_TEST_SECRET"})),
              "$KNELL_TEST_SECRET is not set");
}

TEST_F(WebhookSecret, ThatOthersCouldReadIsRefused) {
    for (const mode_t mode : {0640U, 0604U, 0620U, 0644U}) {
        const auto place = file_with(secret_of(24), mode);
        EXPECT_EQ(error_of(read_secret(place)),
                  "others can get at the secret file " + place.file + ": chmod 600 " + place.file);
    }
}

TEST_F(WebhookSecret, IsInAnOrdinaryFileOfModestSize) {
    const auto missing = (folder / "missing").string();
    EXPECT_EQ(error_of(read_secret({.file = missing})),
              "cannot read the secret file " + missing + ": No such file or directory");
    EXPECT_EQ(error_of(read_secret({.file = folder.string()})),
              folder.string() + " is not an ordinary file");

    const auto fifo = (folder / "fifo").string();
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_EQ(error_of(read_secret({.file = fifo})), fifo + " is not an ordinary file");

    const auto empty = file_with(" \n");
    EXPECT_EQ(error_of(read_secret(empty)), empty.file + " is empty");
    const auto large = file_with(std::string(limits::secret_file_bytes_max + 1, 'x'));
    EXPECT_EQ(error_of(read_secret(large)),
              "the secret file " + large.file + " is larger than 4096 bytes");
    EXPECT_TRUE(read_secret(file_with(std::string(limits::secret_file_bytes_max, 'x'))));
}

TEST_F(WebhookSecret, HasAPrefixAndBase64OfTwentyFourToSixtyFourBytes) {
    EXPECT_EQ(error_of(decode_secret("c2VjcmV0")), "must begin with whsec_ and go on in base64");
    EXPECT_EQ(error_of(decode_secret("whsec_not base64")),
              "is not base64, with its padding, after whsec_");
    EXPECT_EQ(error_of(decode_secret("whsec_" + base64_encode(std::string(25, 'x')).substr(0, 35))),
              "is not base64, with its padding, after whsec_");
    EXPECT_EQ(error_of(decode_secret(secret_of(23))),
              "holds 23 bytes after whsec_; 24 to 64 are expected");
    EXPECT_EQ(error_of(decode_secret(secret_of(65))),
              "holds 65 bytes after whsec_; 24 to 64 are expected");
    EXPECT_TRUE(decode_secret(secret_of(24)));
    EXPECT_TRUE(decode_secret(secret_of(64)));
}

TEST_F(WebhookSecret, IsNeverShownInAnError) {
    for (const auto* text : {"hunter2hunter2", "whsec_hunter2!", "whsec_aHVudGVyMg=="}) {
        const auto error = error_of(read_signing_key(file_with(text)));
        EXPECT_NE(error, "no error");
        EXPECT_EQ(error.find("unter2"), std::string::npos) << error;
        EXPECT_EQ(error.find("aHVudGVy"), std::string::npos) << error;
        EXPECT_NE(error.find(folder.string()), std::string::npos) << error;
    }
}

}  // namespace
}  // namespace knell
