#include "functional/harness/background.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

namespace knell::functional {

std::string json_word(std::string_view word) {
    return wire::to_text(Json(word));
}

std::string WithBackground::start_params(const std::vector<std::string>& argv,
                                         const std::string& more) {
    std::string words;
    for (const auto& word : argv) words += (words.empty() ? "" : ",") + json_word(word);
    return fmt::format(R"({{"session_id":"{}","argv":[{}]{}{}}})", session, words,
                       more.empty() ? "" : ",", more);
}

void WithBackground::TearDown() {
    client = Client(home.socket());
    const auto page = client.must("process.list", R"({"limit":1000})");
    for (const auto& process : array(page, "processes")) {
        if (text(process, "state") != "running") continue;
        client.call("process.stop", R"({"process_id":")" + id_of(process) + R"("})");
    }
    for (const auto& process : array(page, "processes")) exited(id_of(process));
    // Those of a daemon that was killed are ours by now.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

std::vector<Json> WithBackground::rows() {
    std::vector<Json> all;
    std::string cursor;
    for (;;) {
        const auto page =
            client.must("process.list",
                        fmt::format(R"({{"session_id":"{}","all":true,"limit":1000{}}})", session,
                                    cursor.empty() ? "" : fmt::format(R"(,"cursor":{})", cursor)));
        for (const auto& process : array(page, "processes")) all.push_back(process);
        if (at(page, "next").is_null()) return all;
        cursor = wire::to_text(at(page, "next"));
    }
}

Json WithBackground::output(const std::string& id, const std::string& more) {
    return client.must("process.output", fmt::format(R"({{"process_id":"{}"{}{}}})", id,
                                                     more.empty() ? "" : ",", more));
}

void WithBackground::until_it_wrote(const std::string& id, const std::string& wanted) {
    until([&] { return text(output(id), "output").contains(wanted); }, wanted.c_str());
}

Json WithBackground::exited(const std::string& id) {
    Json process;
    until(
        [&] {
            process = row(id);
            return text(process, "state") == "exited";
        },
        ("the exit of process " + id).c_str());
    return process;
}

std::string WithBackground::how(const Json& row) {
    auto kind = text(row, "exit.kind");
    for (const char* field : {"exit.code", "exit.signal"}) {
        if (!at(row, field).is_null()) kind += fmt::format(" {}", number(row, field));
    }
    return kind;
}

}  // namespace knell::functional
