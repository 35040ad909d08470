#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace knell::hermes {

/// A line of a .env: `NAME=value`, also with `export` before it or quotes around the value.
struct EnvLine {
    int line = 0;  // from 1
    std::string name;
    std::string value;
};

/// Lines that set nothing are left out.
std::vector<EnvLine> parse_env_file(std::string_view text);

/// The last one that sets it: it is what holds.  nullptr when none does, or with nothing.
const EnvLine* find_env(const std::vector<EnvLine>& lines, std::string_view name);

}  // namespace knell::hermes
