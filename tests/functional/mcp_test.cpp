// knell mcp: an MCP server that agents start.  By hand, and with the official clients from npm.

#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/receiver.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

/// A message of 2026-07-28: no handshake is needed.
std::string call(int id, std::string_view method, std::string_view params = "") {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}{}"_meta":{{)"
                       R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
                       id, method, params, params.empty() ? "" : ",") +
           "\n";
}

std::vector<Json> lines_of(std::string_view text) {
    std::vector<Json> lines;
    while (!text.empty()) {
        lines.push_back(parse(text.substr(0, text.find('\n'))));
        text.remove_prefix(text.find('\n') + 1);
    }
    return lines;
}

/// `knell mcp` with a pipe to and from it.
class Mcp {
  public:
    explicit Mcp(const TempHome& home, const Environment& more = {}) {
        auto spawn = home.command({"mcp"});
        spawn.environment.insert(more.begin(), more.end());
        spawn.in = in_.reading.get();
        spawn.out = out_.writing.get();
        spawn.err = STDERR_FILENO;
        process_.emplace(spawn);
        in_.reading.reset();
        out_.writing.reset();
        ::fcntl(out_.reading.get(), F_SETFL, O_NONBLOCK);
    }
    Json ask(std::string_view line) {
        EXPECT_EQ(::write(in_.writing.get(), line.data(), line.size()),
                  static_cast<ssize_t>(line.size()));
        while (!said_.contains('\n')) {
            wait_for(out_.reading.get(), POLLIN, "an answer");
            if (!read_available(out_.reading.get(), said_)) throw std::runtime_error("it ended");
        }
        auto answer = parse(said_.substr(0, said_.find('\n')));
        said_.erase(0, said_.find('\n') + 1);
        return answer;
    }
    Json tool(std::string_view name, std::string_view arguments = "{}") {
        return at(ask(call(++last_id_, "tools/call",
                           fmt::format(R"("name":"{}","arguments":{})", name, arguments))),
                  "result");
    }
    /// Its exit status when its input ends.
    int end() {
        in_.writing.reset();
        return process_->wait();
    }
    Process& process() { return *process_; }

  private:
    Pipe in_;
    Pipe out_;
    std::string said_;
    int last_id_ = 0;
    std::optional<Process> process_;
};

TEST(McpAlone, NeedsNoDaemonUntilItIsAskedForSomething) {
    const TempHome home;
    const auto outcome = home.knell(
        {"mcp"},
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
        "\n"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
        "\n");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(text(lines[0], "result.protocolVersion"), "2025-06-18");
    EXPECT_EQ(array(lines[1], "result.tools").size(), 6U);
    EXPECT_TRUE(home.processes().empty());
}

TEST(McpAlone, StartsADaemon) {
    const TempHome home;
    Mcp mcp(home);
    const auto result = mcp.tool("process_list", R"({"everywhere":true})");
    EXPECT_EQ(text(result, "content.0.text"), "No background processes on this machine.");
    EXPECT_EQ(mcp.end(), 0);
    EXPECT_EQ(home.processes().size(), 1U);
}

TEST(McpAlone, HostileLinesCostNothing) {
    const TempHome home;
    std::string input(3U << 20U, 'x');
    input += "\n[[[[\n\n" + call(1, "tools/list") + std::string(2U << 20U, '{');
    for (int i = 0; i < 2000; ++i) input += "\n7";
    input += "\n" + call(2, "server/discover");
    const auto outcome = home.knell({"mcp"}, input);
    EXPECT_EQ(outcome.status, 0);
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 2005U);
    EXPECT_EQ(number(lines[0], "error.code"), -32600);
    EXPECT_EQ(number(lines[1], "error.code"), -32700);
    EXPECT_EQ(number(lines[2], "id"), 1);
    EXPECT_EQ(number(lines[3], "error.code"), -32600);
    EXPECT_EQ(number(lines.back(), "id"), 2);
}

class McpServer : public WithDaemon {};

TEST_F(McpServer, KnowsTheSessionThatItsEnvironmentNames) {
    create(R"({"id":"mine","source":"cli","title":"a talk"})");
    Mcp mcp(home, {{"KNELL_SESSION_ID", "mine"}});
    const auto result = mcp.tool("session_status");
    EXPECT_THAT(text(result, "content.0.text"), HasSubstr("Session mine is idle (\"a talk\")"));
    EXPECT_EQ(text(result, "structuredContent.session.id"), "mine");
    EXPECT_EQ(mcp.end(), 0);
}

TEST_F(McpServer, KnowsTheSessionOfTheProcessAboveIt) {
    // The test is its parent, and owns a session; another session's owner is a stranger.
    create(R"({"id":"other","source":"cli","owner":{"kind":"lease"}})");
    create(fmt::format(R"({{"id":"mine","source":"cli","owner":{{"pid":{}}}}})", ::getpid()));
    Mcp mcp(home);
    EXPECT_EQ(text(mcp.tool("session_status"), "structuredContent.session.id"), "mine");
}

TEST_F(McpServer, SaysWhatToDoWhereItKnowsNoSession) {
    Mcp mcp(home);
    const auto result = mcp.tool("session_status");
    EXPECT_TRUE(at(result, "isError").as_bool());
    EXPECT_THAT(text(result, "content.0.text"), HasSubstr("give session_id"));
}

TEST_F(McpServer, GoesOnWithTheNextDaemon) {
    create(R"({"id":"s","source":"cli"})");
    Mcp mcp(home);
    EXPECT_EQ(
        text(mcp.tool("session_status", R"({"session_id":"s"})"), "structuredContent.session.id"),
        "s");
    daemon.restart();
    EXPECT_EQ(
        text(mcp.tool("session_status", R"({"session_id":"s"})"), "structuredContent.session.id"),
        "s");
}

/// What tests/receivers/mcp.mjs says when all is well.
constexpr auto all_well = R"({"server":"knell","instructions":true}
{"tools":["session_status","process_list","process_start","process_output","process_stop","process_vouch"]}
{"listed":0,"failed":false}
{"started":true,"failed":false}
{"output":"hello\n","next":6}
{"session":"s","runs":["nap"]}
{"vouched":true,"until":true}
{"stopped":"exited","by":15,"failed":false}
{"refused":"not_found","failed":true}
{"wrong":["argv: must be an array of strings, such as [\"make\", \"test\"]"],"failed":true}
{"unknown_tool":-32602}
{"closed":true}
)";

class OfficialMcpClient : public WithDaemon, public ::testing::WithParamInterface<const char*> {};

TEST_P(OfficialMcpClient, StartsReadsAndStopsAProcess) {
    if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
    create(R"({"id":"s","source":"cli"})");
    const auto outcome = run_command({.argv = {"node", "mcp.mjs", GetParam(), knell_binary(), "s"},
                                      .environment = home.environment(),
                                      .cwd = KNELL_RECEIVERS_DIR});
    EXPECT_EQ(outcome.out, all_well) << outcome.err;
    EXPECT_EQ(outcome.status, 0);
}

INSTANTIATE_TEST_SUITE_P(Npm, OfficialMcpClient, ::testing::Values("sdk", "client"),
                         [](const auto& info) { return std::string(info.param); });

/// Claude Code, which no package of ours names: it is large, and not free software.
class RealAgent : public WithDaemon {};

TEST_F(RealAgent, SeesAndStopsWhatRuns) {
    const auto* wanted = std::getenv("KNELL_TEST_AGENTS");
    if (wanted == nullptr || std::string_view(wanted) != "1") {
        GTEST_SKIP() << "runs with KNELL_TEST_AGENTS=1, where `claude` is in PATH";
    }
    const auto agent = run_command({.argv = {"sh", "-c", "command -v claude"},
                                    .environment = {{"PATH", std::getenv("PATH")}}});
    if (agent.status != 0) GTEST_SKIP() << "needs claude, of npm's @anthropic-ai/claude-code";
    const auto claude = agent.out.substr(0, agent.out.find('\n'));
    create(R"({"id":"s","source":"cli"})");
    const auto process =
        text(client.must("process.start",
                         R"({"session_id":"s","argv":["sleep","600"],"title":"forgotten"})"),
             "process_id");
    const auto ask = [&](std::string_view tool, const std::string& arguments) {
        auto environment = home.environment();
        environment["KNELL_SESSION_ID"] = "s";
        return run_command({.argv = {"node", "agent.mjs", claude, knell_binary(), home.path(),
                                     std::string(tool), arguments},
                            .environment = environment,
                            .cwd = KNELL_RECEIVERS_DIR});
    };

    auto outcome = ask("process_list", "{}");
    EXPECT_THAT(outcome.out, HasSubstr(process)) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("forgotten"));
    EXPECT_THAT(outcome.out, HasSubstr(R"({"said":"done","status":0})"));

    outcome = ask("process_stop", fmt::format(R"({{"process_id":"{}"}})", process));
    EXPECT_THAT(outcome.out, HasSubstr(R"("failed":false)")) << outcome.err;
    EXPECT_EQ(text(client.must("process.show", fmt::format(R"({{"process_id":"{}"}})", process)),
                   "state"),
              "exited");
}

}  // namespace
}  // namespace knell::functional
