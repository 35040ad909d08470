#pragma once

#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "platform/file_calls.hpp"
#include "wire/json.hpp"

namespace knell::client {

/// What a client did while no daemon could be told: one call of the contract, with its time.
struct SpoolRecord {
    WallTime at;
    std::string_view method;
    JsonObject params;
};

/// {"v":1,"at":"2026-11-15T03:52:25.001Z","method":"session.create","params":{...}} and a newline.
std::string spool_line(const SpoolRecord& record);

/// <spool_dir>/<session id>.jsonl
std::string spool_file(const std::string& spool_dir, const SessionId& session);

/// Appends to the session's file, all or (after a crash) a part of it; it survives a power cut once
/// this returns.
///
/// Holds an exclusive flock(2) while it writes.  Who replays and deletes the file must hold one
/// too, or a line could be added between the last read and the unlink.
///
/// `unauthorized` in another user's home, where nothing is written.
Result<void> append_to_spool(const std::string& spool_dir, const SessionId& session,
                             std::span<const SpoolRecord> records, const FileCalls& calls = {});
Result<void> append_to_spool(const std::string& spool_dir, const SessionId& session,
                             const SpoolRecord& record, const FileCalls& calls = {});

/// {"pid", "pid_namespace"}: a process that we know, for a daemon that may count in another
/// namespace than we do.
JsonObject owner_for_call(pid_t pid);

/// The same with "start_ticks" and "boot_id": by the time of the replay the pid alone may be
/// another process.  What /proc does not tell is left out.
JsonObject owner_for_spool(pid_t pid);

}  // namespace knell::client
