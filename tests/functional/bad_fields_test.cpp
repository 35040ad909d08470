// A call with something wrong in it: the error names the field, and nothing is done.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class BadFields : public WithDaemon {
  protected:
    void SetUp() override {
        create(R"({"id":"s","source":"cli"})");
        events_before_ = all_events(client);
    }
    void TearDown() override {
        EXPECT_EQ(all_events(client), events_before_) << "something was done";
    }

    struct Case {
        std::string_view method;
        std::string params;
        std::string_view field;
    };
    void expect_named(const std::vector<Case>& cases) {
        for (const auto& [method, params, field] : cases) {
            const auto refused = client.call(method, params);
            EXPECT_EQ(refused.code(), -32602) << method << " " << params.substr(0, 200);
            EXPECT_EQ(refused.kind(), "invalid_params") << method << " " << params.substr(0, 200);
            EXPECT_EQ(refused.field(), field) << method << " " << params.substr(0, 200);
            EXPECT_THAT(refused.message(), HasSubstr(std::string(field)));
        }
    }
    static std::string create_with(std::string_view name, std::string_view value) {
        return fmt::format(R"({{"source":"cli","{}":{}}})", name, value);
    }

  private:
    std::vector<Json> events_before_;
};

class GoodFields : public WithDaemon {};

TEST_F(BadFields, WhatIsMissing) {
    expect_named({{"session.create", "{}", "source"},
                  {"session.create", R"({"source":null})", "source"},
                  {"session.create", R"({"source":""})", "source"},
                  {"session.resume", "{}", "session_id"},
                  {"session.append", "{}", "session_id"},
                  {"session.append", R"({"session_id":"s"})", "generation"},
                  {"session.append", R"({"session_id":"s","generation":1})", "messages"},
                  {"session.close", "{}", "session_id"},
                  {"session.show", "{}", "session_id"},
                  {"turn.start", R"({"session_id":"s"})", "generation"},
                  {"turn.end", R"({"generation":1})", "session_id"}});
}

TEST_F(BadFields, WhatIsEmptyAndMayNotBe) {
    std::vector<Case> cases;
    for (const auto* name : {"parent_id", "relation", "on_owner_loss", "leftovers"}) {
        cases.push_back({"session.create", create_with(name, R"("")"), name});
    }
    cases.push_back({"session.create", create_with("owner", R"({"kind":""})"), "owner.kind"});
    cases.push_back({"session.close", R"({"session_id":"s","reason":""})", "reason"});
    for (const auto* name : {"source", "key", "status"}) {
        cases.push_back({"session.list", fmt::format(R"({{"{}":""}})", name), name});
    }
    expect_named(cases);
}

TEST_F(GoodFields, WhatASessionDoesNotHaveMayBeEmpty) {
    const auto made = client.must(
        "session.create",
        R"({"source":"cli","key":"","platform":"","user_id":"","model":"","title":"","cwd":""})");
    const auto shown = client.must(
        "session.show", fmt::format(R"({{"session_id":"{}"}})", text(made, "session_id")));
    for (const auto* name : {"key", "platform", "user_id", "model", "title", "cwd"}) {
        EXPECT_FALSE(shown.as_object().contains(name)) << name;
    }
}

TEST_F(BadFields, APidNamespaceWithoutAPid) {
    for (const auto* owner :
         {R"({"pid_namespace":4026531836,"lease_ttl_s":45})",
          R"({"pid_namespace":4026531836,"kind":"lease"})", R"({"pid_namespace":4026531836})"}) {
        expect_named({{"session.create", create_with("owner", owner), "owner.pid_namespace"}});
    }
}

TEST_F(BadFields, WhatIsOfTheWrongType) {
    expect_named({{"session.create", R"({"source":1})", "source"},
                  {"session.create", create_with("id", "7"), "id"},
                  {"session.create", create_with("key", "[]"), "key"},
                  {"session.create", create_with("title", "{}"), "title"},
                  {"session.create", create_with("meta", "[]"), "meta"},
                  {"session.create", create_with("meta", R"("x")"), "meta"},
                  {"session.create", create_with("owner", "1"), "owner"},
                  {"session.create", create_with("relation", R"("cousin")"), "relation"},
                  {"session.create", create_with("on_owner_loss", R"("cry")"), "on_owner_loss"},
                  {"session.resume", R"({"session_id":"s","takeover":"yes"})", "takeover"},
                  {"session.resume", R"({"session_id":["s"]})", "session_id"},
                  {"session.show", R"({"session_id":"s","messages":"all"})", "messages"},
                  {"session.close", R"({"session_id":"s","reason":5})", "reason"},
                  {"session.close", R"({"session_id":"s","detail":{}})", "detail"}});
}

TEST_F(BadFields, IdsThatWouldMakeBadFileNames) {
    std::vector<Case> cases;
    const auto long_id = std::string(300, 'a');
    for (const auto& id :
         {std::string("a/b"), std::string("../a"), std::string(".hidden"), std::string(""),
          std::string(R"(a\u0000b)"), std::string(R"(a\u0007)"), std::string(R"(a\nb)"),
          std::string("a b"), std::string("ä"), std::string(R"(a\\b)"), long_id}) {
        cases.push_back({"session.create", create_with("id", "\"" + id + "\""), "id"});
        cases.push_back(
            {"session.show", fmt::format(R"({{"session_id":"{}"}})", id), "session_id"});
        cases.push_back(
            {"session.close", fmt::format(R"({{"session_id":"{}"}})", id), "session_id"});
    }
    expect_named(cases);
}

TEST_F(BadFields, TextsThatAreTooLongOrHoldControlCharacters) {
    const auto quoted = [](std::size_t size) { return "\"" + std::string(size, 'a') + "\""; };
    expect_named({{"session.create", create_with("key", quoted(513)), "key"},
                  {"session.create", create_with("title", quoted(1001)), "title"},
                  {"session.create", create_with("cwd", quoted(4097)), "cwd"},
                  {"session.create", create_with("user_id", quoted(257)), "user_id"},
                  {"session.create", create_with("model", quoted(201)), "model"},
                  {"session.create", create_with("platform", quoted(65)), "platform"},
                  {"session.create", fmt::format(R"({{"source":{}}})", quoted(65)), "source"},
                  {"session.create", R"({"source":"c l i"})", "source"},
                  {"session.create", create_with("title", R"("a\u001b[31m")"), "title"},
                  {"session.create", create_with("key", R"("a\u007f")"), "key"},
                  {"session.close",
                   fmt::format(R"({{"session_id":"s","detail":{}}})", quoted(1001)), "detail"}});
}

TEST_F(BadFields, MetaThatIsTooLarge) {
    expect_named(
        {{"session.create",
          create_with("meta", R"({"a":")" + std::string(16U << 10U, 'x') + R"("})"), "meta"}});
}

TEST_F(BadFields, GenerationsThatCannotBe) {
    std::vector<Case> cases;
    for (const auto* generation :
         {"0", "-1", R"("1")", "1.5", "4294967296", "1e30", "true", "[]"}) {
        for (const auto* method : {"turn.start", "session.append", "session.close"}) {
            cases.push_back({method,
                             fmt::format(R"({{"session_id":"s","generation":{},
                                 "messages":[{{"role":"user","content":"x"}}]}})",
                                         generation),
                             "generation"});
        }
    }
    expect_named(cases);
}

TEST_F(BadFields, ReasonsThatAreNoneOrOnlyTheDaemons) {
    std::vector<Case> cases;
    for (const auto* reason :
         {"bored", "COMPLETED", "superseded", "host_restart", "reaped", "node_lost", "imported"}) {
        cases.push_back({"session.close",
                         fmt::format(R"({{"session_id":"s","reason":"{}"}})", reason), "reason"});
    }
    expect_named(cases);
}

TEST_F(BadFields, OwnersThatCannotBe) {
    expect_named(
        {{"session.create", create_with("owner", "{}"), "owner"},
         {"session.create", create_with("owner", R"({"pid":0})"), "owner.pid"},
         {"session.create", create_with("owner", R"({"pid":-1})"), "owner.pid"},
         {"session.create", create_with("owner", R"({"pid":"1"})"), "owner.pid"},
         {"session.create", create_with("owner", R"({"pid":99999999999})"), "owner.pid"},
         {"session.create", create_with("owner", R"({"lease_ttl_s":1})"), "owner.lease_ttl_s"},
         {"session.create", create_with("owner", R"({"lease_ttl_s":1e9})"), "owner.lease_ttl_s"},
         {"session.create", create_with("owner", R"({"lease_ttl_s":"45"})"), "owner.lease_ttl_s"}});
}

TEST_F(BadFields, AnOwnerThatIsDead) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    const auto as_owner = create_with("owner", fmt::format(R"({{"pid":{}}})", child));

    const auto zombie = client.call("session.create", as_owner);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const auto gone = client.call("session.create", as_owner);

    EXPECT_EQ(zombie.field(), "owner.pid");
    EXPECT_EQ(gone.field(), "owner.pid");
    EXPECT_THAT(gone.message(), HasSubstr(fmt::format("no process {} runs here", child)));
}

TEST_F(BadFields, ARelationNeedsAParent) {
    expect_named({{"session.create", create_with("relation", R"("branch")"), "parent_id"},
                  {"session.create", create_with("parent_id", R"("a/b")"), "parent_id"}});
}

TEST_F(BadFields, MessagesThatCannotBe) {
    const auto with = [](std::string_view messages) {
        return fmt::format(R"({{"session_id":"s","generation":1,"messages":{}}})", messages);
    };
    std::string many = "[";
    for (int i = 0; i < 1001; ++i) many += R"({"role":"user","content":"x"},)";
    many.back() = ']';
    expect_named({
        {"session.append", with("[]"), "messages"},
        {"session.append", with("{}"), "messages"},
        {"session.append", with(R"("x")"), "messages"},
        {"session.append", with("[1]"), "messages[0]"},
        {"session.append", with("[{}]"), "messages[0].role"},
        {"session.append", with(R"([{"role":"user"}])"), "messages[0].content"},
        {"session.append", with(R"([{"role":"user","content":1}])"), "messages[0].content"},
        {"session.append", with(R"([{"role":"u ser","content":""}])"), "messages[0].role"},
        {"session.append", with(R"([{"role":"user","content":"x"},{"role":"user"}])"),
         "messages[1].content"},
        {"session.append", with(R"([{"role":"user","content":"x","tokens":-1}])"),
         "messages[0].tokens"},
        {"session.append", with(R"([{"role":"user","content":"x","tokens":"1"}])"),
         "messages[0].tokens"},
        {"session.append", with(many), "messages"},
    });
    EXPECT_EQ(number(show("s"), "message_count"), 0);
}

TEST_F(BadFields, UnknownFieldsAreIgnored) {
    EXPECT_TRUE(client.call("session.show", R"({"session_id":"s","colour":"red"})").ok());
}

}  // namespace
}  // namespace knell::functional
