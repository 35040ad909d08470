#pragma once

#include <string_view>
#include <vector>

#include "rpc/backend.hpp"
#include "store/store.hpp"
#include "wire/json.hpp"

/// What the methods for background processes have in common.
namespace knell::rpc {

/// The object `process` of one that is on record.  `task_id`: the one that was asked for, or "".
/// Any thread.
JsonObject render_process(const ProcessOnRecord& row, std::string_view task_id, WallTime now,
                          const Backend& backend);

/// Any thread: a running one with what it was seen doing since that was recorded.
void freshen(BackgroundProcess& process, const Backend& backend);

/// On the read thread; `not_found` where there is none.
Result<ProcessOnRecord> read_process(const ProcessId& id, Reader& reader, const Backend& backend);

/// On the read thread: those of a session that run, the newest first, `max` at most.
Result<std::vector<ProcessOnRecord>> running_processes(const SessionId& session, std::size_t max,
                                                       Reader& reader, const Backend& backend);
/// On the read thread: how many there are.
Result<std::size_t> count_running(const SessionId& session, Reader& reader);

/// As read_process, from the dispatcher's thread, and back to it.  Also when whoever asked has hung
/// up: a change hangs on it.
void find_process(ProcessId id, Backend& backend, Done<ProcessOnRecord> done);

}  // namespace knell::rpc
