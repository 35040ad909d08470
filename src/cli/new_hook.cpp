#include "cli/new_hook.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/subscriber_name.hpp"
#include "platform/directories.hpp"
#include "platform/new_file.hpp"

namespace knell::cli {

std::string new_hook_manifest(std::string_view name) {
    return fmt::format(R"(# The hook "{}": knell runs ./run once for each event that is named here.
# `man knell-hooks` has every key, and `knell config check` reads this file.

description: Writes a line to a file when a session has ended

# Names of events, session:* for all of a kind, or * for all. Often wanted:
#   session:start session:end session:stalled process:exit notice
events: [session:end]

# What to run. Without this line it is handler.py, or else the one executable file in here. No shell
# looks at it: for pipes and redirections write a script, as ./run is one.
command: ./run

# How long one run may take: then SIGTERM, and SIGKILL two seconds later.
timeout: 10s

# A run that fails is tried again for three days. Give a number to try less often; 0: never again.
# retries: 0

# How many events it is run for at once; never for two of the same session.
# concurrency: 1
)",
                       name);
}

std::string new_hook_script(std::string_view name) {
    return fmt::format(R"(#!/bin/sh
# The hook "{}". It is run in its own directory, with the event as one line of JSON on standard input
# and, as far as the event has them, in these variables:
#
#   KNELL_EVENT        its type: session:end
#   KNELL_EVENT_ID     the same at every attempt, for hooks that must not act twice
#   KNELL_SESSION_ID   the session, and KNELL_SESSION_KEY its routing key
#   KNELL_REASON       why it ended: completed, exited, signaled, oom_killed ...
#
# Exit with 0 when it is done. With anything else it is run again later, and the last line that it
# wrote goes on record as what went wrong.

set -eu

line="$(date '+%F %T') ${{KNELL_EVENT:-}}: session ${{KNELL_SESSION_ID:-}} ended: ${{KNELL_REASON:-}}"
echo "$line" >>events.log

# What is written here is kept for the last ten runs: knell hooks runs {}
echo "$line"
)",
                       name, name);
}

namespace {

Result<void> make_executable(const std::string& path) {
    if (::chmod(path.c_str(), 0700) == 0) return {};
    const int error = errno;
    return fail(ErrorCode::internal, fmt::format("cannot make {} executable: {}", path,
                                                 std::generic_category().message(error)));
}

}  // namespace

Result<std::string> make_new_hook(const std::string& hooks_dir, const std::string& name) {
    if (const auto why = why_not_a_subscriber_name(name)) {
        return bad_field("NAME", *why);
    }
    const auto folder = std::filesystem::path(hooks_dir) / name;
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(folder, error))) {
        return fail(ErrorCode::blocked,
                    fmt::format("{} is there already, and is left as it is", folder.string()));
    }
    if (auto made = make_private_directories(folder); !made) {
        return std::unexpected(std::move(made.error()));
    }
    const auto script = (folder / "run").string();
    // The manifest last: a daemon that watches never sees a hook without its program.
    auto written = write_new_file(script, new_hook_script(name));
    if (written) written = make_executable(script);
    if (written) written = write_new_file((folder / "HOOK.yaml").string(), new_hook_manifest(name));
    if (!written) return std::unexpected(std::move(written.error()));
    return folder.string();
}

}  // namespace knell::cli
