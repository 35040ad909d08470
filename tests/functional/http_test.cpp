// A real daemon, asked by curl: every path, and the shapes that must not get anywhere.

#include "functional/harness/http.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/client.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto leased = R"({"id":"s1","source":"cli","owner":{"lease_ttl_s":60}})";

class Http : public ::testing::Test {
  protected:
    TempHome home;
    HttpDaemon http{home};
};

TEST_F(Http, IsFoundByStatusAndFile) {
    const auto status = parse(home.knell({"status", "--json"}).out);
    EXPECT_EQ(text(status, "http"), http.address());
    EXPECT_THAT(home.knell({"status"}).out, HasSubstr("http://" + http.address()));
    EXPECT_EQ(mode_of(home.file("http.addr")), 0600U);
    EXPECT_EQ(mode_of(home.file("token")), 0600U);
    EXPECT_EQ(mode_of(home.file("token.read")), 0600U);
    EXPECT_EQ(home.knell({"down"}).status, 0);
    EXPECT_EQ(mode_of(home.file("http.addr")), 0U) << "it is gone";
}

TEST_F(Http, ServesEveryPath) {
    EXPECT_THAT(http.rpc("session.create", leased).body, HasSubstr("\"session_id\":\"s1\""));
    http.rpc("session.append", R"({"session_id":"s1","generation":1,
                                   "messages":[{"role":"user","content":"hello"}]})");

    EXPECT_EQ(http.curl("/healthz").body, "ok\n");
    EXPECT_EQ(http.curl("/readyz").body, "ok\n");
    EXPECT_EQ(text(parse(http.get("/v1/sessions").body), "sessions.0.id"), "s1");
    EXPECT_EQ(text(parse(http.get("/v1/sessions/s1").body), "status"), "idle");
    EXPECT_EQ(http.get("/v1/sessions/s1/why").status, 200);
    EXPECT_EQ(text(parse(http.get("/v1/sessions/s1/messages").body), "messages.0.content"),
              "hello");
    EXPECT_THAT(http.get("/v1/hooks").body, HasSubstr("\"hooks\":[]"));
    EXPECT_EQ(text(parse(http.get("/v1/status").body), "http"), http.address());
    EXPECT_EQ(http.get("/v1/sessions", {"--head"}).body, "");
}

TEST_F(Http, FiltersByQueryAndLinksToTheNextPage) {
    http.rpc("session.create", leased);
    http.rpc("session.create", R"({"id":"s2","source":"cron","owner":{"lease_ttl_s":60}})");

    const auto page = http.get("/v1/sessions?all=true&limit=1");
    EXPECT_EQ(text(parse(page.body), "sessions.0.id"), "s2");
    const auto start = page.head.find("Link: <") + 7;
    const auto link = page.head.substr(start, page.head.find('>', start) - start);
    EXPECT_EQ(text(parse(http.get(link).body), "sessions.0.id"), "s1") << link;
    EXPECT_EQ(text(parse(http.get("/v1/sessions?source=cron").body), "sessions.0.id"), "s2");
    const auto wrong = parse(http.get("/v1/sessions?limit=many").body);
    EXPECT_EQ(text(wrong, "field"), "limit");
    EXPECT_EQ(number(wrong, "status"), 422);
}

TEST_F(Http, ToldOfProblemsAsDocuments) {
    const auto missing = http.get("/v1/sessions/none");
    EXPECT_EQ(missing.status, 404);
    EXPECT_THAT(missing.head, HasSubstr("Content-Type: application/problem+json"));
    EXPECT_EQ(text(parse(missing.body), "kind"), "not_found");
    EXPECT_EQ(http.get("/v1/nothing").status, 404);
    const auto verb = http.get("/v1/status", {"--request", "DELETE"});
    EXPECT_EQ(verb.status, 405);
    EXPECT_THAT(verb.head, HasSubstr("Allow: GET, HEAD"));
    EXPECT_THAT(http.rpc("session.create", "{}").body, HasSubstr("source: is required"));
}

TEST_F(Http, WantsATokenThatAllowsIt) {
    EXPECT_EQ(http.curl("/v1/sessions").status, 401);
    EXPECT_EQ(http.curl("/v1/sessions", http.with_token("wrong")).status, 401);
    EXPECT_EQ(http.curl("/v1/sessions", http.with_token(http.read_token())).status, 200);
    auto arguments = http.with_token(http.read_token());
    arguments.insert(arguments.end(),
                     {"--data", R"({"jsonrpc":"2.0","id":1,"method":"node.stop"})"});
    EXPECT_THAT(http.curl("/v1/rpc", arguments).body, HasSubstr("-32006"));
    EXPECT_THAT(http.rpc("hooks.pause", R"({"name":"x"})").body, HasSubstr("allow_processes"));
}

TEST_F(Http, ARotatedTokenTakesTheOldOnesPlace) {
    const auto rotated = home.knell({"token", "rotate"}).out;
    ASSERT_EQ(rotated, home.knell({"token", "show"}).out);
    // The daemon looks once a second.
    while (http.get("/v1/status").status == 200) {
    }
    EXPECT_EQ(http.curl("/v1/status", http.with_token(rotated.substr(0, 64))).status, 200);
}

TEST_F(Http, AllowsProcessesWhenTheConfigSaysSo) {
    write_file(home.file("config.yaml"), "http: {allow_processes: true}\n");
    std::string said;
    while (!said.contains("-32001")) said = http.rpc("hooks.pause", R"({"name":"x"})").body;
}

TEST_F(Http, RefusesForeignHostsAndOrigins) {
    EXPECT_EQ(http.get("/v1/status", {"-H", "Host: evil.example"}).status, 421);
    EXPECT_EQ(http.get("/v1/status", {"-H", "Origin: http://evil.example"}).status, 403);
    EXPECT_EQ(http.get("/v1/status", {"-H", "Origin: http://" + http.address()}).status, 200);
    EXPECT_THAT(http.get("/v1/status").head, Not(HasSubstr("Access-Control")));
}

TEST_F(Http, RefusesWhatIsTooLongOrReadInTwoWays) {
    EXPECT_EQ(http.get("/v1/status", {"-H", "X: " + std::string(20'000, 'a')}).status, 431);
    EXPECT_EQ(http.get("/" + std::string(5000, 'a')).status, 414);
    write_file(home.file("long"), std::string(2U << 20U, ' '));
    EXPECT_EQ(http.get("/v1/rpc", {"--data-binary", "@" + home.file("long")}).status, 413);
    EXPECT_EQ(http.get("/v1/rpc", {"--data", "{}", "-H", "Transfer-Encoding: chunked", "-H",
                                   "Content-Length: 2"})
                  .status,
              400);
    EXPECT_EQ(
        http.get("/v1/rpc", {"--data", "{}", "-H", "Transfer-Encoding: gzip, chunked"}).status,
        501);
}

TEST_F(Http, CompressesWhatIsLong) {
    const auto plain = http.get("/v1/status");
    const auto described =
        http.get("/v1/rpc",
                 {"--compressed", "--data", R"({"jsonrpc":"2.0","id":1,"method":"rpc.describe"})"});
    EXPECT_THAT(plain.head, Not(HasSubstr("Content-Encoding")));
    EXPECT_THAT(described.head, HasSubstr("Content-Encoding: gzip"));
    EXPECT_THAT(described.body, HasSubstr("\"session.create\""));
}

TEST_F(Http, FollowsEvents) {
    http.rpc("session.create", leased);
    http.rpc("session.close", R"({"session_id":"s1","generation":1})");
    // curl gives up after a while, with what came by then.
    const auto events = http.get("/v1/events?types=session:start,session:end",
                                 {"-H", "Last-Event-ID: 0", "--max-time", "1"});
    EXPECT_THAT(events.head, HasSubstr("text/event-stream"));
    EXPECT_THAT(events.body, HasSubstr("event: session:start\ndata: {\"seq\":"));
    EXPECT_THAT(events.body, HasSubstr("event: session:end\n"));
    EXPECT_THAT(events.body, Not(HasSubstr("gateway:startup")));
}

TEST(HttpAddress, BeyondLoopbackIsRefused) {
    const TempHome home;
    const auto up = home.knell({"up", "--http", "0.0.0.0:0"});
    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("behind_proxy"));
    EXPECT_EQ(home.knell({"up", "--http", "here"}).status, 2);
}

TEST(HttpAddress, ThatIsTakenIsAWarningAndTakenOnceItIsFree) {
    const TempHome first;
    std::optional<HttpDaemon> http(std::in_place, first);
    const auto address = http->address();
    const TempHome second;

    ASSERT_EQ(second.knell({"up", "--detach", "--http", address}).status, 0);

    EXPECT_THAT(
        read_file(second.file("knell.log")),
        HasSubstr(fmt::format("cannot listen at {}: Address already in use, which process {} "
                              "(knell) holds",
                              address, http->pid())));
    EXPECT_THAT(second.knell({"status"}).out,
                AllOf(HasSubstr("cannot listen at " + address), Not(HasSubstr("http://"))));
    http.reset();
    // It tries once a second.
    while (!second.knell({"status"}).out.contains("http://" + address)) {
    }
}

}  // namespace
}  // namespace knell::functional
