#include "net/http/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using rpc::Access;

const Rules rules{.tokens = {.full = "full-token", .read_only = "read-token"},
                  .hosts = {"knell.example.org"},
                  .listen_host = "10.0.0.1"};

Sender sender(std::string_view authorization) {
    return {.hosts = 1, .host = "localhost:7717", .authorization = authorization};
}

int status(const Sender& sender) {
    const auto admitted = admit(sender, rules);
    const auto* refusal = std::get_if<Refusal>(&admitted);
    return refusal == nullptr ? 200 : refusal->status;
}

TEST(Admission, IsByToken) {
    EXPECT_EQ(std::get<Access>(admit(sender("Bearer full-token"), rules)), Access::full);
    EXPECT_EQ(std::get<Access>(admit(sender("Bearer read-token"), rules)), Access::read_only);
}

TEST(Admission, StartsProgramsOnlyWhenTheConfigSaysSo) {
    auto allowing = rules;
    allowing.allow_processes = true;
    EXPECT_EQ(std::get<Access>(admit(sender("Bearer full-token"), allowing)), Access::processes);
    EXPECT_EQ(std::get<Access>(admit(sender("Bearer read-token"), allowing)), Access::read_only);
}

TEST(Admission, TellsAGuessFromNoToken) {
    const auto wrong = std::get<Refusal>(admit(sender("Bearer other"), rules));
    EXPECT_EQ(wrong.status, 401);
    EXPECT_TRUE(wrong.is_guess);
    const auto none = std::get<Refusal>(admit(sender(""), rules));
    EXPECT_EQ(none.status, 401);
    EXPECT_FALSE(none.is_guess);
}

TEST(Admission, LooksAtTheHostBeforeTheToken) {
    auto asked = sender("Bearer full-token");
    EXPECT_EQ(status(asked), 200);
    asked.host = "evil.example";
    EXPECT_EQ(status(asked), 421);
    asked.host = "knell.example.org";
    EXPECT_EQ(status(asked), 200);
    asked.hosts = 2;
    EXPECT_EQ(status(asked), 400);
    asked.hosts = 0;
    EXPECT_EQ(status(asked), 400);
}

TEST(Admission, RefusesPagesOfOthers) {
    auto asked = sender("Bearer full-token");
    asked.origin = "http://localhost:7717";
    EXPECT_EQ(status(asked), 200);
    for (const auto* origin : {"http://evil.example", "null", ""}) {
        asked.origin = origin;
        EXPECT_EQ(status(asked), 403) << origin;
    }
}

}  // namespace
}  // namespace knell::net::http
