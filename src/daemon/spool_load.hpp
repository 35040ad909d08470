#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/fd.hpp"
#include "rpc/backend.hpp"
#include "writer/spool_replay.hpp"

namespace knell {

/// A file of the spool, understood or not.
struct LoadedSpool {
    Fd lock;
    std::vector<Command> commands;
    std::string problem;  // why it can never be taken in
};

/// Nothing: look again later, see open_spool_file.
std::optional<LoadedSpool> load_spool(const std::string& path, rpc::Surroundings& here);

/// It can never be taken in: kept under another name, and logged.
void set_aside_and_say(const std::string& path, std::string_view why);

/// All of it is durable.
void delete_delivered(const std::string& path, const SpoolReplay& replay);

}  // namespace knell
