#include "rpc/methods/process_row.hpp"

#include <memory>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/process_json.hpp"

namespace knell::rpc {

namespace {

wire::SessionState state_of(ProcessOnRecord::Session session) {
    switch (session) {
        case ProcessOnRecord::Session::open:
            return wire::SessionState::open;
        case ProcessOnRecord::Session::ended:
            return wire::SessionState::ended;
        case ProcessOnRecord::Session::none:
            return wire::SessionState::none;
    }
    return wire::SessionState::none;
}

}  // namespace

JsonObject render_process(const ProcessOnRecord& row, std::string_view task_id, WallTime now,
                          const Backend& backend) {
    return wire::to_json(row.process, {.now = now,
                                       .session = state_of(row.session),
                                       .scope = wire::scope_of(row.process, task_id),
                                       .stop = backend.stop_state(row.process)});
}

void freshen(BackgroundProcess& process, const Backend& backend) {
    if (process.exit) return;
    if (auto seen = backend.activity_of(process.id)) process.activity = std::move(*seen);
}

Result<ProcessOnRecord> read_process(const ProcessId& id, Reader& reader, const Backend& backend) {
    auto found = reader.process(id);
    if (!found) return std::unexpected(std::move(found.error()));
    if (!*found) {
        return fail(ErrorCode::not_found,
                    fmt::format("no process {}; `knell ps --all` lists what there is", id.text()));
    }
    freshen((*found)->process, backend);
    return std::move(**found);
}

Result<std::vector<ProcessOnRecord>> running_processes(const SessionId& session, std::size_t max,
                                                       Reader& reader, const Backend& backend) {
    ProcessQuery query;
    query.session_id = session;
    query.limit = max;
    query.bytes_max = limits::page_bytes_max;
    auto page = reader.processes(query);
    if (!page) return std::unexpected(std::move(page.error()));
    for (auto& row : page->processes) freshen(row.process, backend);
    return std::move(page->processes);
}

Result<std::size_t> count_running(const SessionId& session, Reader& reader) {
    ProcessQuery query;
    query.session_id = session;
    query.limit = limits::list_page_max;
    query.bytes_max = limits::page_bytes_max;
    std::size_t running = 0;
    do {
        const auto page = reader.processes(query);
        if (!page) return std::unexpected(page.error());
        running += page->processes.size();
        query.before = page->next;
    } while (query.before);
    return running;
}

void find_process(ProcessId id, Backend& backend, Done<ProcessOnRecord> done) {
    auto found = std::make_shared<ProcessOnRecord>();
    backend.read(
        ConnectionId::none,
        [id = std::move(id), found, &backend](Reader& reader) -> Result<Json> {
            auto row = read_process(id, reader, backend);
            if (!row) return std::unexpected(std::move(row.error()));
            *found = std::move(*row);
            return Json{};
        },
        [found, done = std::move(done)](Result<wire::Rendered> read) mutable {
            if (!read) return done(std::unexpected(std::move(read.error())));
            done(std::move(*found));
        });
}

}  // namespace knell::rpc
