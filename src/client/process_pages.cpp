#include "client/process_pages.hpp"

#include <algorithm>

#include "client/process_words.hpp"
#include "core/limits.hpp"

namespace knell::client {

namespace {

bool is_wanted(const Json& process, const Wanted& wanted) {
    const auto* row = process.if_object();
    if (row == nullptr) return false;
    if (wanted.is_running && !is_running(*row)) return false;
    return wanted.task_id.empty() || wire::text_at(*row, "task_id") == wanted.task_id;
}

}  // namespace

Result<Listed> list_processes(Connection& connection, JsonObject params, const Wanted& wanted) {
    Listed listed;
    if (!wanted.task_id.empty()) params["task_id"] = wanted.task_id;
    params["limit"] = limits::list_page_max;
    for (;;) {
        auto page = connection.call_object("process.list", params);
        if (!page) return std::unexpected(std::move(page.error()));
        if (const auto* processes = wire::array_at(*page, "processes")) {
            for (const auto& process : *processes) {
                if (!is_wanted(process, wanted)) continue;
                if (listed.processes.size() == wanted.limit) {
                    listed.is_more = true;
                    return listed;
                }
                listed.processes.push_back(process);
            }
        }
        const auto next = wire::text_at(*page, "next");
        // A daemon that says the same again would keep us for ever.
        if (next.empty() || next == wire::text_at(params, "cursor")) return listed;
        params["cursor"] = next;
    }
}

}  // namespace knell::client
