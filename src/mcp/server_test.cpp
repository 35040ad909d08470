#include "mcp/server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "mcp/tools.hpp"
#include "testing/scripted_surroundings.hpp"

namespace knell::mcp {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedSurroundings;

class McpServer : public ::testing::Test {
  protected:
    /// What is answered to one line, without its newline.
    std::string ask(std::string_view line) {
        server.receive(line);
        return answered();
    }
    std::string answered() {
        std::string said;
        while (server.has_work()) said += server.answer_next();
        if (said.ends_with('\n')) said.pop_back();
        EXPECT_FALSE(said.contains('\n')) << said;
        return said;
    }
    Json ask_json(std::string_view line) { return wire::parse_json(ask(line)).value(); }
    void agree_on(std::string_view version) {
        EXPECT_THAT(ask(fmt::format(R"({{"jsonrpc":"2.0","id":0,"method":"initialize","params":)"
                                    R"({{"protocolVersion":"{}","capabilities":{{}}}}}})",
                                    version)),
                    HasSubstr(fmt::format(R"("protocolVersion":"{}")", version)));
    }

    ScriptedSurroundings world;
    Server server{world, {.version = "1.2.3"}};
};

/// A call of 2026-07-28.
std::string modern(std::string_view method, std::string_view params = "") {
    return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{}{}"_meta":{{)"
                       R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
                       method, params, params.empty() ? "" : ",");
}

TEST_F(McpServer, AgreesOnTheVersionAskedForOrTheNewestOfThatKind) {
    const struct {
        const char* asked;
        const char* agreed;
    } rows[] = {{"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"},
                {"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
                {"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"}};
    for (const auto& row : rows) {
        const auto said = ask_json(fmt::format(
            R"({{"jsonrpc":"2.0","id":"a","method":"initialize","params":{{"protocolVersion":"{}"}}}})",
            row.asked));
        EXPECT_EQ(said.at("id"), "a");
        EXPECT_EQ(said.at("result").at("protocolVersion"), row.agreed);
        EXPECT_EQ(said.at("result").at("serverInfo").at("name"), "knell");
        EXPECT_EQ(said.at("result").at("serverInfo").at("version"), "1.2.3");
        EXPECT_EQ(said.at("result").at("capabilities"), (Json{{"tools", JsonObject{}}}));
        EXPECT_FALSE(said.at("result").as_object().contains("resultType"));
    }
}

TEST_F(McpServer, NeedsNoHandshakeWhereEachCallNamesItsVersion) {
    const auto said = ask_json(modern("server/discover"));
    EXPECT_EQ(said.at("result").at("supportedVersions"), (JsonArray{"2026-07-28"}));
    EXPECT_EQ(said.at("result").at("resultType"), "complete");
    EXPECT_EQ(said.at("result").at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"),
              "knell");
    EXPECT_EQ(said.at("result").at("cacheScope"), "public");
    const auto tools = ask_json(modern("tools/list"));
    EXPECT_EQ(tools.at("result").at("tools").as_array().size(), 6U);
    EXPECT_GT(tools.at("result").at("ttlMs").as_int64(), 0);
}

TEST_F(McpServer, RefusesAVersionThatACallCannotName) {
    for (const auto* version : {R"("2025-11-25")", R"("2099-01-01")", "7", "null"}) {
        const auto said = ask_json(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{)"
                        R"("io.modelcontextprotocol/protocolVersion":{},)"
                        R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
                        version));
        EXPECT_EQ(said.at("error").at("code"), -32022) << version;
        EXPECT_EQ(said.at("error").at("data").at("supported"), (JsonArray{"2026-07-28"}));
        EXPECT_EQ(wire::to_text(said.at("error").at("data").at("requested")), version);
    }
}

TEST_F(McpServer, OneLineOneAnswer) {
    agree_on("2025-11-25");
    const struct {
        const char* line;
        const char* says;  // "": nothing at all
    } rows[] = {
        {R"({"jsonrpc":"2.0","method":"notifications/initialized"})", ""},
        {R"({"jsonrpc":"2.0","method":"notifications/made_up","params":{"a":1}})", ""},
        {R"({"jsonrpc":"2.0","id":1,"result":{}})", ""},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})", ""},
        {"", ""},
        {"\r", ""},
        {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":1,"result":{}})"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
         R"({"jsonrpc":"2.0","id":1,"result":{}})"},
        {R"({"jsonrpc":"2.0","id":"x y","method":"ping","params":null})", R"("id":"x y","result")"},
        {R"({"jsonrpc":"2.0","id":2,"method":"resources/list"})",
         R"("id":2,"error":{"code":-32601)"},
        {R"({"jsonrpc":"2.0","id":2,"method":"server/discover"})", R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":2,"method":"initialize"})", R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", R"("id":null,"error":{"code":-32600)"},
        {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", R"("id":null,"error":{"code":-32600)"},
        {R"({"jsonrpc":"1.0","id":3,"method":"ping"})", R"("id":3,"error":{"code":-32600)"},
        {R"({"id":3,"method":"ping"})", R"("id":3,"error":{"code":-32600)"},
        {R"({"jsonrpc":"2.0","id":3,"method":7})", R"("id":3,"error":{"code":-32600)"},
        {R"({"jsonrpc":"2.0","id":3})", R"("id":3,"error":{"code":-32600)"},
        {R"({"jsonrpc":"2.0","id":3,"method":"ping","params":[1]})", R"("code":-32600)"},
        {"7", R"("id":null,"error":{"code":-32600)"},
        {"null", R"("id":null,"error":{"code":-32600)"},
        {"[]", R"("id":null,"error":{"code":-32600)"},
        {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", R"("id":null,"error":{"code":-32600)"},
        {"{", R"("id":null,"error":{"code":-32700)"},
        {"hello", R"("id":null,"error":{"code":-32700)"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", R"("code":-32700)"},
        {R"({"jsonrpc":"2.0","id":4,"method":"tools/call"})", R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}})",
         R"("code":-32602,"message":"there is no tool \"rm\"")"},
        {R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":["process_list"]}})",
         R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"process_list","arguments":[]}})",
         R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"99"}})",
         R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"-1"}})",
         R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":{}}})",
         R"("code":-32602)"},
        {R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"process_stop"}})",
         R"("isError":true)"},
    };
    for (const auto& row : rows) {
        const auto said = ask(row.line);
        if (std::string_view(row.says).empty()) {
            EXPECT_EQ(said, "") << row.line;
        } else {
            EXPECT_THAT(said, HasSubstr(row.says)) << row.line;
        }
    }
    EXPECT_THAT(ask(std::string(100, '[')), HasSubstr("-32700"));
    server.receive_too_long();
    EXPECT_THAT(answered(), HasSubstr(R"("id":null,"error":{"code":-32600)"));
}

TEST_F(McpServer, TellsNamesBackShortAndWhole) {
    agree_on("2025-11-25");
    std::string name = "x";
    while (name.size() < 5000) name += "\u00e9";
    const auto said = ask(fmt::format(
        R"({{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{}"}}}})", name));
    EXPECT_LT(said.size(), 300U);
    EXPECT_TRUE(is_utf8(said));
}

TEST_F(McpServer, WithoutAHandshakeAnswersOnlyAPing) {
    EXPECT_THAT(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), HasSubstr(R"("result":{})"));
    EXPECT_THAT(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"),
                HasSubstr("call initialize first"));
    EXPECT_THAT(ask(modern("ping")), HasSubstr("-32601"));
    EXPECT_THAT(ask(modern("initialize")), HasSubstr("-32601"));
}

TEST_F(McpServer, ACallThatNamesItsVersionNamesCapabilitiesToo) {
    EXPECT_THAT(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":)"
                    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"),
                HasSubstr("-32602"));
}

TEST_F(McpServer, ToolsAreToldInTheDialectOfTheClient) {
    const auto tool = [&](std::string_view version) {
        agree_on(version);
        return ask_json(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")
            .at("result")
            .at("tools")
            .at(5)
            .as_object();
    };
    EXPECT_FALSE(tool("2024-11-05").contains("annotations"));
    EXPECT_TRUE(tool("2025-03-26").contains("annotations"));
    EXPECT_FALSE(tool("2025-03-26").contains("title"));
    const auto newest = tool("2025-11-25");
    EXPECT_EQ(newest.at("title"), "Vouch for a process");
    EXPECT_EQ(wire::to_text(newest.at("inputSchema").at("required")), R"(["process_id","until"])");
    EXPECT_EQ(newest.at("inputSchema").at("additionalProperties"), false);
}

TEST_F(McpServer, HintsSayWhatReadsAndWhatDestroys) {
    std::vector<std::string> reads;
    std::vector<std::string> destroys;
    for (const auto& tool : tools()) {
        const auto described = describe(tool, newest_by_handshake);
        const auto& hints = described.at("annotations");
        if (hints.at("readOnlyHint").as_bool()) reads.emplace_back(tool.name);
        if (hints.at("destructiveHint").as_bool()) destroys.emplace_back(tool.name);
    }
    EXPECT_THAT(reads, ::testing::ElementsAre("session_status", "process_list", "process_output"));
    EXPECT_THAT(destroys, ::testing::ElementsAre("process_stop"));
}

TEST_F(McpServer, ToolsComePageByPage) {
    Server paging{world, {.version = "1", .tools_page = 4}};
    paging.receive(modern("tools/list"));
    const auto first = wire::parse_json(paging.answer_next()).value();
    EXPECT_EQ(first.at("result").at("tools").as_array().size(), 4U);
    const auto cursor = first.at("result").at("nextCursor").as_string();
    paging.receive(modern("tools/list", fmt::format(R"("cursor":"{}")", std::string_view(cursor))));
    const auto second = wire::parse_json(paging.answer_next()).value();
    EXPECT_EQ(second.at("result").at("tools").as_array().size(), 2U);
    EXPECT_EQ(second.at("result").at("tools").at(1).at("name"), "process_vouch");
    EXPECT_FALSE(second.at("result").as_object().contains("nextCursor"));
}

TEST_F(McpServer, AResultIsTextAndWhereTheVersionHasItAnObject) {
    const auto call =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"process_list","arguments":{"everywhere":true}}})";
    agree_on("2024-11-05");
    world.answers(R"({"processes":[]})");
    auto said = ask_json(call);
    EXPECT_EQ(said.at("result").at("content").at(0).at("text"),
              "No background processes on this machine.");
    EXPECT_FALSE(said.at("result").as_object().contains("structuredContent"));

    agree_on("2025-06-18");
    world.answers(R"({"processes":[]})");
    said = ask_json(call);
    EXPECT_EQ(wire::to_text(said.at("result").at("structuredContent")),
              R"({"processes":[],"listed":"on this machine"})");
    EXPECT_EQ(said.at("result").at("isError"), false);
}

TEST_F(McpServer, BatchesAreOfOneVersionAlone) {
    const std::string pings =
        R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},)"
        R"(7,{"jsonrpc":"2.0","id":2,"method":"nope"}])";
    EXPECT_THAT(ask(pings), HasSubstr("-32600"));
    agree_on("2025-03-26");
    const auto said = ask_json(pings).as_array();
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said.at(0).at("id"), 1);
    EXPECT_EQ(said.at(1).at("error").at("code"), -32600);
    EXPECT_EQ(said.at(2).at("error").at("code"), -32601);
    EXPECT_EQ(ask(R"([{"jsonrpc":"2.0","method":"notifications/x"}])"), "");
    EXPECT_THAT(ask("[]"), HasSubstr("-32600"));
    EXPECT_THAT(ask(R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":)"
                    R"({"protocolVersion":"2025-11-25"}}])"),
                HasSubstr("must not be part of a batch"));
    std::string many = "[";
    for (int i = 0; i < 65; ++i) many += i == 0 ? "1" : ",1";
    EXPECT_THAT(ask(many + "]"), HasSubstr("1 to 64"));
}

TEST_F(McpServer, WhatWaitsCanBeCancelled) {
    server.receive(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    server.receive(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    server.receive(R"({"jsonrpc":"2.0","id":"2","method":"ping"})");
    server.receive(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    EXPECT_THAT(server.answer_next(), HasSubstr(R"("id":1)"));
    EXPECT_THAT(server.answer_next(), HasSubstr(R"("id":"2")"));
    EXPECT_FALSE(server.has_work());
}

TEST_F(McpServer, CancellingWhatIsDoneOrMadeUpChangesNothing) {
    for (const auto* params : {R"({"requestId":1})", R"({"requestId":{}})", "{}", "[]", "7"}) {
        EXPECT_EQ(
            ask(fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}})",
                            params)),
            "");
    }
    server.receive(R"({"jsonrpc":"2.0","id":9,"method":"initialize","params":)"
                   R"({"protocolVersion":"2025-06-18"}})");
    server.receive(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
    EXPECT_THAT(answered(), HasSubstr("2025-06-18"));
}

TEST_F(McpServer, TakesOnlySoMuchBeforeItAnswers) {
    std::size_t taken = 0;
    while (server.has_room()) {
        server.receive(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
        ++taken;
    }
    EXPECT_EQ(taken, waiting_messages_max);
    server.answer_next();
    EXPECT_TRUE(server.has_room());

    Server other{world, {.version = "1"}};
    const std::string pad(limits::line_bytes_max - 100, 'x');
    taken = 0;
    for (; other.has_room(); ++taken) {
        other.receive(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}"}})", pad));
    }
    EXPECT_LE(taken, 5U);
    const auto said = other.answer_next();
    EXPECT_LT(said.size(), 1000U);
}

}  // namespace
}  // namespace knell::mcp
