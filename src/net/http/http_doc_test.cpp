// docs/http.md has a table of all paths and one of what each token allows.  They are made here;
// UPDATE_DOCS=1 in the environment writes them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http/routes.hpp"
#include "rpc/method_table.hpp"
#include "testing/doc_page.hpp"

namespace knell::net::http {
namespace {

std::string what_it_is(const Route& route) {
    switch (route.serves) {
        case Serves::call:
            return fmt::format("`{}`", route.method);
        case Serves::rpc:
            return "one JSON-RPC call in the body";
        case Serves::events:
            return fmt::format("`{}` as server-sent events", route.method);
        case Serves::websocket:
            return "WebSocket: one JSON-RPC object a message";
        case Serves::health:
            return "200 while the daemon answers";
        case Serves::readiness:
            return "200 while calls can be answered, else 503";
    }
    return {};
}

std::string route_table() {
    std::string table = "| path | is | needs a token |\n|---|---|---|\n";
    for (const auto& route : routes()) {
        table += fmt::format("| `{} {}` | {} | {} |\n", route.verb, route.path, what_it_is(route),
                             route.needs_token() ? "yes" : "no");
    }
    return table;
}

std::string methods_with(rpc::Access access) {
    std::string names;
    for (const auto& method : rpc::methods()) {
        if (method.access != access) continue;
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", method.name);
    }
    return names;
}

std::string access_table() {
    return fmt::format(
        "| token | allows |\n|---|---|\n| read-only | {} |\n| full | that, and {} |\n"
        "| full, with `http.allow_processes: true` | that, and {} |\n",
        methods_with(rpc::Access::read_only), methods_with(rpc::Access::full),
        methods_with(rpc::Access::processes));
}

std::optional<std::string> table_for(std::string_view marker) {
    if (marker == "<!-- routes -->") return route_table();
    if (marker == "<!-- access -->") return access_table();
    return std::nullopt;
}

TEST(HttpDoc, TellsOfEveryPathAndWhatATokenAllows) {
    const auto tables = knell::testing::check_doc_page(KNELL_DOCS_DIR "/http.md", table_for);
    EXPECT_EQ(tables.size(), 2U);
}

}  // namespace
}  // namespace knell::net::http
