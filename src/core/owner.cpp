#include "core/owner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace knell {

std::string to_lines(const std::vector<ProcessIdentity>& processes) {
    std::string lines;
    for (const auto& process : processes) {
        lines += fmt::format("{}\t{}\t{}\t{}\n", process.pid, process.start_ticks,
                             process.pid_namespace, process.boot_id);
    }
    return lines;
}

std::vector<ProcessIdentity> processes_from_lines(std::string_view lines) {
    std::vector<ProcessIdentity> processes;
    while (!lines.empty()) {
        auto line = take_field(lines, '\n');
        ProcessIdentity process;
        process.pid = number_in<std::int32_t>(take_field(line, '\t'));
        process.start_ticks = number_in<std::uint64_t>(take_field(line, '\t'));
        process.pid_namespace = number_in<std::uint64_t>(take_field(line, '\t'));
        process.boot_id = line;
        processes.push_back(std::move(process));
    }
    return processes;
}

}  // namespace knell
