#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/paths.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

enum class CheckState : std::uint8_t { good, warning, bad };

/// Something that knell needs of a machine, and what was found.
struct MachineCheck {
    std::string name;
    CheckState state = CheckState::good;
    std::string found;
    std::string advice;  // what is lost and what to do; "" where nothing is
};

/// What the system says, as far as it could be asked.
struct MachineFacts {
    std::string kernel;                   // its release: "6.1.0-18-amd64"
    int pidfd_error = 0;                  // of pidfd_open for a process of ours; 0: it works
    int inotify_error = 0;                // the same of inotify_init
    std::uint64_t inotify_instances = 0;  // a user may have; 0: not told
    std::uint64_t descriptors_max = 0;    // the hard limit
    bool has_systemd = false;
    bool has_linger = false;  // the user's manager outlives the last login
    std::string state_dir;
    std::string file_system;  // "ext4", "tmpfs"; "": not told
    int sync_error = 0;       // of fdatasync for a file there; 0: it works
};

MachineFacts look_at_machine(const Paths& paths);

/// Pure.
std::vector<MachineCheck> judge(const MachineFacts& facts);
std::string machine_report(const std::vector<MachineCheck>& checks, const Terminal& terminal);
JsonObject machine_json(const std::vector<MachineCheck>& checks);
/// Nothing is bad.
bool may_run(const std::vector<MachineCheck>& checks);

}  // namespace knell::cli
