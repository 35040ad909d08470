#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

Tone tone_of_status(std::string_view status);
Tone tone_of_end(const JsonObject& session);

/// What a session is about: its title, else the command of its owner; "" where neither is known.
std::string_view what_of(const JsonObject& session);
/// "signaled SIGKILL", "exited 3", "completed": the reason of an end with what of its detail is
/// worth a column; "" while it is open.
std::string short_end_text(const JsonObject& session);
/// A directory as people write it: "~/proj" below `home` (""  where there is none).
std::string short_directory(std::string_view directory, std::string_view home);

/// How sessions are to be shown.
struct SessionView {
    Terminal terminal{};
    std::vector<std::string> ids{};  // what stands for each; none: their own
    std::string home{};              // what "~" means
};

/// One row a session.  Where there is little room, columns go by what they are worth, and the
/// status of what ended is why it did: that is always to be seen, like id, status and what it is.
Table session_table(const JsonArray& sessions, WallTime now, const SessionView& view = {});

}  // namespace knell::cli
