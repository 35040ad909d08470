#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "background/output_files.hpp"
#include "core/background_process.hpp"
#include "core/error.hpp"
#include "platform/gated_child.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// A process to be started for a session.
struct LaunchOrder {
    ProcessId id;
    SessionId session_id;
    std::vector<std::string> argv;
    std::string cwd;                       // absolute
    std::vector<std::string> environment;  // NAME=value; the later of two counts
    std::string socket;                    // of this daemon
};

/// It has all that it needs, and waits to be let go.
struct Launched {
    GatedChild child;
    ProcessIdentity process;
};

/// Looks for the program, opens the output and makes the process.  Whatever is wrong with the order
/// is told now, with its field; `limit` when the system is short of what a process takes.  After an
/// error nothing is left of it; `unreaped` gets the pid of a process that is dying but hangs.
///
/// The process leads a process session of its own, reads from /dev/null and appends what it writes
/// to its output.  Its environment is the one of the order and KNELL_SESSION_ID, KNELL_SOCKET and
/// KNELL_PROCESS_ID, and KNELL_GENERATION, whose value is said when it is let go.  It has nothing
/// else of ours.
///
/// Waits for disks: not on a thread that others wait for.
Result<Launched> launch(LaunchOrder order, OutputFiles& outputs, const ProcessTable& table,
                        pid_t& unreaped);

/// The program that is to be executed: where `name` is by the PATH of that environment, or by `cwd`
/// when it has a slash.
Result<std::string> find_program(const std::string& name, const std::string& cwd,
                                 const std::vector<std::string>& environment);

/// Of several values of a variable the last.
std::vector<std::string> without_doubles(std::vector<std::string> environment);

/// Why the program of a process could not be executed, for people.
std::string why_not_executed(const SpawnFailure& failure, const std::string& program);

}  // namespace knell
