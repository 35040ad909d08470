#include "cli/completion_values.hpp"

#include <chrono>

#include <fmt/format.h>

#include "cli/text_width.hpp"
#include "client/connect.hpp"
#include "config/keys.hpp"

namespace knell::cli {

namespace {

constexpr std::chrono::seconds patience{1};
constexpr int sessions_max = 200;

using wire::text_at;

/// The rows of a list that a method answers; empty where nobody answers in time.
JsonArray rows_of(const Paths& paths, std::string_view method, const JsonObject& params,
                  std::string_view list) {
    const client::Deadline deadline{patience};
    auto connection = client::connect(paths, deadline);
    if (!connection) return {};
    auto answer = connection->call(method, params, deadline);
    const auto* object = answer ? answer->if_object() : nullptr;
    const auto* rows = object == nullptr ? nullptr : wire::array_at(*object, list);
    return rows == nullptr ? JsonArray{} : *rows;
}

/// `id` and `about` are fields of a row.
std::vector<Candidate> candidates_of(const JsonArray& rows, std::string_view id,
                                     std::string_view state, std::string_view about) {
    std::vector<Candidate> candidates;
    for (const auto& row : rows) {
        const auto* object = row.if_object();
        if (object == nullptr) continue;
        candidates.push_back(
            {std::string(text_at(*object, id)),
             one_line(fmt::format("{} {}", text_at(*object, state), text_at(*object, about)))});
    }
    return candidates;
}

std::vector<Candidate> config_keys_there_are() {
    std::vector<Candidate> candidates;
    for (const auto& key : config_key_rows) {
        candidates.push_back({std::string(key.path), std::string(key.about)});
    }
    return candidates;
}

}  // namespace

std::vector<Candidate> look_up(Wanted wanted, const Paths& paths) {
    switch (wanted) {
        case Wanted::sessions:
            return candidates_of(
                rows_of(paths, "session.list", {{"limit", sessions_max}}, "sessions"), "id",
                "status", "title");
        case Wanted::processes:
            return candidates_of(rows_of(paths, "process.list", {}, "processes"), "process_id",
                                 "activity", "command");
        case Wanted::hooks:
            return candidates_of(rows_of(paths, "hooks.list", {}, "hooks"), "name", "kind",
                                 "state");
        case Wanted::methods:
            return candidates_of(rows_of(paths, "rpc.describe", {}, "methods"), "name", "",
                                 "summary");
        case Wanted::config_keys:
            return config_keys_there_are();
    }
    return {};
}

}  // namespace knell::cli
