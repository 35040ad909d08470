#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace knell {

/// What /proc/<pid>/stat tells of a process.
struct ProcStat {
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    std::uint64_t start_ticks = 0;  // since boot: together with the pid it names one process
    bool is_forked_copy = false;    // it runs the program of who forked it: a shell's subshell
    char state = 'R';               // Z and X: dead, only not yet waited for; T and t: stopped
    int exit_status = 0;            // of the dead, as wait(2) gives it; 0 to those who may not ask
    int terminal = 0;               // device number of the terminal that controls it; 0: none
    pid_t foreground_group = 0;     // the one that terminal reads for
    std::uint64_t cpu_ticks = 0;    // of all its threads, the ended ones too
    std::uint64_t waited_cpu_ticks = 0;  // of children that it has waited for, and theirs
    std::int64_t threads = 0;

    bool is_stopped() const { return state == 'T' || state == 't'; }
    bool is_dead() const { return state == 'Z' || state == 'X'; }
    bool operator==(const ProcStat&) const = default;
};

/// Nothing when there is no such process.
std::optional<ProcStat> read_proc_stat(pid_t pid);
/// The same of the process whose folder in /proc is open: never another one's that got its pid.
/// Nothing when it cannot be read, and errno says why.
std::optional<ProcStat> read_proc_stat_in(int folder);

/// The parsing alone.  The command name may hold spaces and brackets, so fields are counted from
/// the last ')'.
std::optional<ProcStat> parse_proc_stat(std::string_view stat);

}  // namespace knell
