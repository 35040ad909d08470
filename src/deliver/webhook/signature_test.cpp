#include "deliver/webhook/signature.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace knell {
namespace {

// Both were also computed with other programs' HMAC and base64.
constexpr const char* secret_24 = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
constexpr const char* signature_24 = "v1,vbwKOiKRVWxzYPBL8xyw56gFOhmJkUi7Z0wtXdQFI1c=";
constexpr const char* secret_64 =
    "whsec_//79/Pv6+fj39vX08/Lx8O/"
    "u7ezr6uno5+bl5OPi4eDf3t3c29rZ2NfW1dTT0tHQz87NzMvKycjHxsXEw8LBwA==";
constexpr const char* signature_64 = "v1,tcCOkFgdB5rEVD11BGbfVoItJYAThCc4NeLiuOUTERk=";

constexpr SignedMessage message{.id = "s1_1_end", .timestamp_s = 1794714745, .body = R"({"a":1})"};

class WebhookSignature : public testing::Test {
  protected:
    void SetUp() override {
        setenv("KNELL_TEST_SECRET_OLD", secret_24, 1);
        setenv("KNELL_TEST_SECRET_NEW", secret_64, 1);
    }
    void TearDown() override {
        unsetenv("KNELL_TEST_SECRET_OLD");
        unsetenv("KNELL_TEST_SECRET_NEW");
    }
    const SecretPlace old_one{.variable = "KNELL_TEST_SECRET_OLD"};
    const SecretPlace new_one{.variable = "KNELL_TEST_SECRET_NEW"};
};

TEST_F(WebhookSignature, IsWhatOthersCompute) {
    EXPECT_EQ(signature_header(message, {old_one}), signature_24);
    EXPECT_EQ(signature_header(message, {new_one}), signature_64);
}

TEST_F(WebhookSignature, ThereIsOneForEachSecretWhileOneIsRotated) {
    EXPECT_EQ(signature_header(message, {new_one, old_one}),
              std::string(signature_64) + " " + signature_24);
}

TEST_F(WebhookSignature, CoversIdTimeAndBody) {
    const std::string key(24, 'k');
    const auto original = sign(message, key);
    EXPECT_NE(sign({"s1_2_end", message.timestamp_s, message.body}, key), original);
    EXPECT_NE(sign({message.id, message.timestamp_s + 1, message.body}, key), original);
    EXPECT_NE(sign({message.id, message.timestamp_s, R"({"a":2})"}, key), original);
}

TEST_F(WebhookSignature, WithoutASecretThereIsNone) {
    const auto header = signature_header(message, {});
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().message, "there is no secret to sign with; name one");
}

TEST_F(WebhookSignature, OneBadSecretSpoilsIt) {
    const auto header = signature_header(message, {old_one, {.variable = "KNELL_TEST_UNSET"}});
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().message, "$KNELL_TEST_UNSET is not set");
}

}  // namespace
}  // namespace knell
